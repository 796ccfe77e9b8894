import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import type { QuestionView } from "../../src/runtime/contract.js";
import { lookOf } from "../model/status.js";
import { Text } from "../parts/text.js";
import { itemAsked } from "../model/question-form.js";
import { Answer } from "./answer.js";

/** The items of a wizard: what was answered, and a field for the one that is asked now. */
export function Wizard({ task, question }: { readonly task: string; readonly question: QuestionView }) {
  const asked = itemAsked(question);
  const text = useSignal("");
  const name = useId();
  useEffect(() => {
    const { default: offered = "" } = asked ?? {};
    text.value = typeof offered === "string" ? offered : JSON.stringify(offered);
  }, [asked?.id]);
  if (asked === undefined) return null;
  return (
    <div class="wizard">
      <ol>
        {question.items?.map((item) => (
          <li key={item.id} aria-current={item.id === asked.id ? "step" : undefined}>
            <span class="shape" aria-hidden="true">
              {item.id === asked.id
                ? "›"
                : item.status === "open"
                  ? "○"
                  : lookOf(item.status === "skipped" ? "skipped" : "done").shape}
            </span>
            <Text of={item.text} length={400} />
            {item.answer !== undefined && (
              <b>
                {" "}
                <Text of={typeof item.answer === "string" ? item.answer : JSON.stringify(item.answer)} length={200} />
              </b>
            )}
          </li>
        ))}
      </ol>
      <fieldset>
        <legend>
          <Text of={asked.text} />
        </legend>
        {asked.hint !== undefined && (
          <p class="muted">
            <Text of={asked.hint} />
          </p>
        )}
        {asked.choices.map((choice) => (
          <label key={choice} class="choice">
            <input type="radio" name={name} checked={text.value === choice} onChange={() => (text.value = choice)} />
            <Text of={choice} />
          </label>
        ))}
        {asked.allow_free_text && (
          <label class="field">
            <span>{asked.choices.length > 0 ? "or in your words" : "your answer"}</span>
            <textarea
              rows={2}
              value={asked.choices.includes(text.value) ? "" : text.value}
              onInput={(event) => (text.value = event.currentTarget.value)}
            />
          </label>
        )}
      </fieldset>
      {text.value.trim() !== "" && (
        <Answer task={task} body={{ question: question.id, answer: asked.id, more: text.value }} label="Answer this" />
      )}
    </div>
  );
}
