import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { QuestionView } from "../../src/runtime/contract.js";
import { now } from "../live/state.js";
import { formatAgo } from "../model/figures.js";
import { buildAnswer, findFieldFault, itemAsked, listChoices, nameKind } from "../model/question-form.js";
import { formatRoute } from "../model/route.js";
import { Text } from "../parts/text.js";
import { Value } from "../parts/value.js";
import { Answer } from "./answer.js";
import { Wizard } from "./wizard.js";

interface CardProps {
  readonly task: string;
  readonly workflow?: string | undefined;
  readonly question: QuestionView;
}

/** One question with its form; the first answer wins, and the server says who was first. */
export function QuestionCard({ task, workflow, question }: CardProps) {
  const { expires_at, on_expire, step, offered } = question;
  return (
    <article class="card question" aria-label={`question of ${task}`}>
      <header>
        <span class="status tone-wait">
          <span class="shape" aria-hidden="true">
            ?
          </span>
          {nameKind(question.kind)}
        </span>
        <a href={formatRoute({ place: "task", task })}>{task}</a>
        {workflow !== undefined && workflow !== task && <span class="muted">{workflow}</span>}
        <span class="muted right">
          asked {formatAgo(Date.parse(question.opened_at), now.value)}
          {expires_at !== undefined &&
            `, ends ${formatAgo(Date.parse(expires_at), now.value)}${on_expire === undefined ? "" : ` with ${on_expire}`}`}
        </span>
      </header>
      <p class="asked">
        <Text of={question.text} length={2000} />
      </p>
      {step !== undefined && (
        <p>
          <a href={formatRoute({ place: "task", task, tab: "steps", query: { step } })}>
            what the step was given and did
          </a>
        </p>
      )}
      {offered !== undefined && <Value of={offered} />}
      {itemAsked(question) !== undefined && <Wizard task={task} question={question} />}
      <Choices task={task} question={question} />
    </article>
  );
}

function Choices({ task, question }: CardProps) {
  const choices = listChoices(question);
  const chosen = useSignal("");
  const text = useSignal("");
  const name = useId();
  const choice = choices.find(({ value }) => value === chosen.value);
  const fault = findFieldFault(choice?.field, text.value);
  const isWizard = question.items !== undefined;
  const pick = (value: string): void => {
    chosen.value = value;
    text.value = choices.find((one) => one.value === value)?.field?.sample ?? "";
  };
  return (
    <form class="choices" onSubmit={(event) => event.preventDefault()}>
      <fieldset>
        <legend class={isWizard ? "muted" : "hidden"}>{isWizard ? "or" : "answer"}</legend>
        {choices.map(({ value, label }) => (
          <label key={value} class="choice">
            <input type="radio" name={name} checked={chosen.value === value} onChange={() => pick(value)} />
            <b>{value}</b> <Text of={label === value ? "" : label} />
          </label>
        ))}
      </fieldset>
      {choice?.field !== undefined && (
        <label class="field">
          <span>
            {choice.field.label}
            {!choice.field.required && <span class="muted"> (may be empty)</span>}
          </span>
          <textarea
            rows={choice.field.kind === "text" ? 1 : 5}
            class={choice.field.kind === "json" ? "mono" : ""}
            value={text.value}
            aria-invalid={fault !== undefined}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
          {fault !== undefined && <span class="fault">{fault}</span>}
        </label>
      )}
      {choice !== undefined && fault === undefined && (
        <Answer task={task} body={buildAnswer(question, choice, text.value)} />
      )}
    </form>
  );
}
