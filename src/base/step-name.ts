/**
 * Steps, scopes and questions by the names that people gave them: `main/write/letter[3]@1.1` is `write/letter[3]`.
 *
 * The whole identity stays in views; every place that takes a step takes the short name too.
 */

const IDENTITY = /^(.*)@(\d+)\.(\d+)$/s;
/** The workflow's own scope: everything is below it. */
const ROOT = "main";
const QUESTION = /^[a-z_]+:(.*):\d+$/s;

/** Shape: `draft`, `write/letter[3]`, `draft (visit 2)`, `draft (after going back)`; of the root `workflow`. */
export function nameStep(identityOrPath: string): string {
  const [, path = identityOrPath, round = "1", visit = "1"] = IDENTITY.exec(identityOrPath) ?? [];
  const notes = [
    ...(visit === "1" ? [] : [`visit ${visit}`]),
    ...(round === "1" ? [] : [round === "2" ? "after going back" : `after going back ${Number(round) - 1} times`]),
  ];
  const name =
    path === ROOT || path === "" ? "workflow" : path.startsWith(`${ROOT}/`) ? path.slice(ROOT.length + 1) : path;
  return `${name}${notes.length === 0 ? "" : ` (${notes.join(", ")})`}`;
}

/** The step that a question is about: `gate:main/approve@1.1:1` is `approve`. */
export function nameQuestion(id: string): string {
  return nameStep(QUESTION.exec(id)?.[1] ?? id);
}
