/** A wait for a span of time, which goes on while nothing runs. */
import type { Step } from "../../schema/generated/workflow.js";
import { parseDurationMs } from "../model/duration.js";
import type { WaitStep } from "../model/step.js";
import { withoutUndefined, type FileKind, type Parts, type Unsigned } from "./kind.js";
import { omitUndefined } from "./step-fields.js";

export const WAIT: FileKind<WaitStep> = {
  types: ["wait"],
  signs: ["duration"],
  keys: ["duration", "reason"],
  effects: "none",
  endedBy: "time",
  resultForm: "waited_seconds",
  build: buildWait,
  render: (node, render) =>
    withoutUndefined({
      duration_ms: render.read(node.duration, { parse: parseDurationMs, what: "a duration" }),
      reason: render.text(node.reason),
    }),
  computeDueAtMs: ({ duration_ms: durationMs }, { nowMs }) => nowMs + (typeof durationMs === "number" ? durationMs : 0),
};

function buildWait(step: Step, { common, site }: Parts): Unsigned<WaitStep> {
  const { duration } = step;
  const isTemplate = typeof duration === "string" && duration.includes("{{");
  const milliseconds = duration === undefined || isTemplate ? undefined : parseDurationMs(duration);
  const isWrong =
    duration === undefined ||
    (!isTemplate && (milliseconds === undefined || milliseconds <= 0 || milliseconds > 86_400_000));
  if (isWrong) {
    site.context.faults.add({
      code: duration === undefined ? "missing_key" : "wrong_value",
      path: duration === undefined ? site.at : [...site.at, "duration"],
      message: `the step ${common.name} needs a duration of more than nothing and at most 24h`,
      suggestion: "write seconds, or a text such as 500ms, 30s, 5m, 2h",
    });
  }
  return { ...common, kind: "wait", duration: duration ?? 1, ...omitUndefined("reason", step.reason) };
}
