/**
 * Answers that the audit trail knows of and nothing else: they were recorded, and their messages went before an owner took
 * them. The question stands open as if nobody had answered; a person is told that somebody has.
 */
import { SplashdownError } from "../../base/errors.js";
import type { JsonValue } from "../../base/json.js";
import type { QuestionEntry } from "../../engine/model/state.js";
import { openDetails, type AuditEntry } from "../audit/audit-file.js";
import { readTrail } from "./audit-reading.js";
import type { TaskStore } from "../../store/contract/contract.js";
import type { TaskVault } from "../../vault/contract.js";
import { askedOf } from "../mailbox/control.js";

/** One line for each; `open` are questions that nobody has answered, as far as messages tell. Errors: the STORE_* codes. */
export async function describeLostAnswers(
  { task, vault }: { readonly task: TaskStore; readonly vault: TaskVault },
  open: readonly QuestionEntry[],
): Promise<string[]> {
  if (open.length === 0) return [];
  const trail = await readTrail(task);
  const told = trail.files.filter(trail.counts).flatMap(({ key, content }): readonly AuditEntry[] => {
    try {
      return content instanceof SplashdownError ? [] : openDetails(key, content, vault);
    } catch (error) {
      if (!(error instanceof SplashdownError) || error.code === "INTERNAL") throw error;
      // What is wrong with the trail is `audit verify`'s.
      return [];
    }
  });
  const given = told.filter(({ event }) => event === "answered");
  return open.flatMap((question) => given.filter(isLostOf(question)).map((entry) => describeLost(question, entry)));
}

function isLostOf(question: QuestionEntry): (entry: AuditEntry) => boolean {
  const { question: id, asked } = askedOf(question);
  const moves = question.wizard?.moves ?? 0;
  return ({ details }) =>
    details["question"] === id &&
    details["asked"] === asked &&
    (typeof details["move"] !== "number" || details["move"] > moves);
}

function describeLost({ id }: QuestionEntry, { at, details }: AuditEntry): string {
  const { by, answer } = details;
  return `the audit trail says that ${showDetail(by)} answered ${id} with ${showDetail(answer)} at ${at}, and that answer is gone from the task: it was removed before an owner took it, and does not count`;
}

function showDetail(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
