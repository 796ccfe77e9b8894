/** Durations as workflow files write them: seconds, or a number with ms, s, m or h. Source: CONDUCTOR-YAML 1.9. */
import type { JsonValue } from "../../base/json.js";

const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/;
const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Units: milliseconds, whole; `undefined` when it is none. */
export function parseDurationMs(value: JsonValue): number | undefined {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return Math.round(value * 1_000);
  const match = typeof value === "string" ? DURATION.exec(value.trim()) : null;
  if (match === null) return undefined;
  const unit = (match[2] ?? "s") as keyof typeof UNIT_MS;
  return Math.round(Number(match[1]) * UNIT_MS[unit]);
}
