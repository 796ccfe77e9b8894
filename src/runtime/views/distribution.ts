/** Sums up measurements: mean, percentiles, largest. Pure. */
import type { Distribution } from "./face-views.js";

/** Nearest-rank percentiles; all zero for no values. */
export function summariseValues(values: readonly number[], unit: Distribution["unit"]): Distribution {
  const sorted = [...values].sort((left, right) => left - right);
  const count = sorted.length;
  const sum = sorted.reduce((total, value) => total + value, 0);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * count) - 1)] ?? 0;
  return { unit, count, mean: count === 0 ? 0 : round(sum / count), p50: at(0.5), p95: at(0.95), max: at(1) };
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
