/** Parsing of flags. */
import { parseExactJson } from "../../base/exact-json.js";
import { SplashdownError, isErrorCode, messageOf } from "../../base/errors.js";
import type { JsonValue } from "../../base/json.js";
import type { OnUnknown } from "../../runtime/contract.js";

/** How a checkpoint is named, for the help of every verb that takes one. */
export const CHECKPOINT = "id, beginning of an id, sequence, phaseN, file name, or latest; TASK:… for one task";
/** Of `--task` beside it. */
export const CHECKPOINT_TASK = "the task it belongs to, by name, id or workflow name";

/** A checkpoint as it was named, in the task that was named beside it. */
export function withinTask(checkpoint: string, task: string | undefined): string {
  return task === undefined ? checkpoint : `${task}:${checkpoint}`;
}

/** `name=value` pairs of a repeatable flag, later ones win. Errors: USAGE_INVALID. */
export function collectPairs(text: string, previous: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at <= 0) throw new SplashdownError("USAGE_INVALID", `expected name=value, got ${JSON.stringify(text)}`);
  return { ...previous, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Texts of a repeatable flag, in their order. */
export function collectTexts(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, text];
}

/** Texts of `--answer`: `GATE=VALUE`, or one bare value for the one open question. Errors: USAGE_INVALID. */
export function readAnswers(texts: readonly string[]): {
  readonly bare?: string;
  readonly answers: Readonly<Record<string, string>>;
} {
  const answers: Record<string, string> = {};
  let bare: string | undefined;
  for (const text of texts) {
    const at = text.indexOf("=");
    if (at > 0) answers[text.slice(0, at)] = text.slice(at + 1);
    else if (bare === undefined) bare = text;
    else {
      throw new SplashdownError(
        "USAGE_INVALID",
        `--answer ${text}: two answers without a name; write --answer GATE=VALUE`,
      );
    }
  }
  return { answers, ...(bare === undefined ? {} : { bare }) };
}

/** There is no open question yet that a bare value could be about. Errors: USAGE_INVALID. */
export function requireNamed(texts: readonly string[] = []): Readonly<Record<string, string>> {
  const { bare, answers } = readAnswers(texts);
  if (bare === undefined) return answers;
  throw new SplashdownError("USAGE_INVALID", `--answer ${bare} names no gate; write --answer GATE=${bare}`);
}

const SINCE_UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A length of time before now, or a date. Units: the answer in ms since the epoch. Errors: USAGE_INVALID. */
export function parseSince(text: string, nowMs: number): number {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return nowMs - Number(count) * (SINCE_UNITS[unit] ?? 0);
  const atMs = /^\d{4}-/.test(text) ? Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text) : NaN;
  if (!Number.isNaN(atMs)) return atMs;
  throw new SplashdownError("USAGE_INVALID", `--since takes 30m, 2h, 7d or a date, not ${JSON.stringify(text)}`);
}

export function parseOnUnknown(text: string): OnUnknown {
  if (text === "ask" || text === "rerun" || text === "skip" || text === "fail") return text;
  throw new SplashdownError(
    "USAGE_INVALID",
    `--on-unknown takes ask, rerun, skip or fail, not ${JSON.stringify(text)}`,
  );
}

/** A JSON value given on the command line. Errors: USAGE_INVALID. */
export function parseJsonFlag(flag: string, text: string): JsonValue {
  try {
    return parseExactJson(text);
  } catch (error) {
    const why = isErrorCode(error, "VALUE_UNSUPPORTED") ? "cannot be taken" : "is not JSON";
    throw new SplashdownError("USAGE_INVALID", `${flag} ${why}: ${messageOf(error)}`);
  }
}
