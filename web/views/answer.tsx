import type { AnswerView } from "../../src/runtime/contract.js";
import { act, taskPath } from "../live/api.js";
import { formatAnswerCommand, type AnswerBody } from "../model/question-form.js";
import { Act } from "../parts/act.js";

/** The button of an answer, with what came of it. */
export function Answer({ task, body, label = "Answer" }: { task: string; body: AnswerBody; label?: string }) {
  return (
    <Act
      label={label}
      isMain
      command={formatAnswerCommand(task, body)}
      run={async () => tellAnswer(await act<AnswerView>(taskPath(task, "/answer"), body))}
    />
  );
}

function tellAnswer({ answer, by, owner_alive, command, question_open }: AnswerView): string {
  if (question_open !== undefined) return `took ${answer}; it asks on`;
  const next = owner_alive ? "the running task takes it up" : `nobody runs the task; go on with ${command ?? "resume"}`;
  return `answered with ${answer} by ${by}; ${next}`;
}
