/** A wait until a moment, however far that is: the task need not run meanwhile, and a moment that has passed ends it at once. */
import type { JsonValue } from "../../base/json.js";
import type { Step } from "../../schema/generated/workflow.js";
import { parseDurationMs } from "../model/duration.js";
import type { SleepUntilStep } from "../model/step.js";
import { withoutUndefined, type FileKind, type Parts, type Unsigned } from "./kind.js";
import { omitUndefined } from "./step-fields.js";

export const SLEEP_UNTIL: FileKind<SleepUntilStep> = {
  types: ["sleep_until"],
  signs: ["until"],
  keys: ["until", "reason"],
  effects: "none",
  endedBy: "time",
  resultForm: "waited_seconds",
  build: buildSleepUntil,
  render: (node, render) =>
    withoutUndefined({
      ...render.read(node.until, { parse: parseUntil, what: WANTED }),
      reason: render.text(node.reason),
    }),
  computeDueAtMs: ({ until, after_ms: afterMs }, { nowMs, aheadMs }) =>
    typeof until === "string" ? Date.parse(until) + aheadMs : nowMs + (typeof afterMs === "number" ? afterMs : 0),
};

const WANTED = "a time with a zone, e.g. 2026-12-24T18:00:00+01:00, nor a duration such as 36h";
const MOMENT = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(Z|[+-]\d\d:\d\d)$/i;

/** Shape: `until` in UTC, or `after_ms` for a duration, which counts from the step's beginning; `undefined` when neither. */
export function parseUntil(value: JsonValue): { readonly until: string } | { readonly after_ms: number } | undefined {
  const afterMs = parseDurationMs(value);
  if (afterMs !== undefined) return { after_ms: afterMs };
  const [, year, month, day, time, zone] = (typeof value === "string" ? MOMENT.exec(value.trim()) : null) ?? [];
  if (year === undefined || time === undefined || zone === undefined) return undefined;
  const atMs = Date.parse(`${year}-${month}-${day}T${time}${zone.toUpperCase()}`);
  // A day that its month does not have would count on into the next.
  const hasDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  return Number.isNaN(atMs) || !hasDay ? undefined : { until: new Date(atMs).toISOString() };
}

function buildSleepUntil(step: Step, { common, site }: Parts): Unsigned<SleepUntilStep> {
  const { until } = step;
  const isTemplate = typeof until === "string" && until.includes("{{");
  if (until === undefined || (!isTemplate && parseUntil(until) === undefined)) {
    site.context.faults.add({
      code: until === undefined ? "missing_key" : "wrong_value",
      path: until === undefined ? site.at : [...site.at, "until"],
      message: `the step ${common.name} needs until: a time with its zone, or a duration`,
      suggestion: "write 2026-12-24T18:00:00+01:00, with Z or the offset at the end, or a duration such as 36h",
    });
  }
  return { ...common, kind: "sleep_until", until: until ?? 0, ...omitUndefined("reason", step.reason) };
}
