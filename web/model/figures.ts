/** Numbers as people read them: durations, sizes, money and times; the same words as on the command line. */

/** Units: seconds. */
export function formatDuration(seconds: number): string {
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const SIZES = ["B", "KB", "MB", "GB", "TB"];

/** Units: bytes; a thousand to the next. */
export function formatSize(bytes: number): string {
  const step = Math.min(SIZES.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** step;
  return `${step === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${SIZES[step] ?? "B"}`;
}

/** Units: US dollars; small sums are not rounded away. */
export function formatMoney(dollars: number): string {
  if (dollars === 0) return "$0";
  return `$${dollars.toFixed(dollars >= 1 ? 2 : dollars >= 0.01 ? 3 : 5)}`;
}

/** Calls of models with what is known of them, of any view. */
export interface Spent {
  readonly calls: number;
  readonly tokens: number;
  readonly cost_usd: number;
  /** Calls whose price is unknown: not in `cost_usd`. */
  readonly unpriced_calls: number;
  /** Calls of which nobody told the tokens: not in `tokens`. */
  readonly uncounted_calls?: number;
}

/** What nobody knows is called unknown, never nothing. Shape: `$0.040`, `unknown`, `$0.040 + ?` where the price of some calls is unknown. */
export function formatCost({ calls, cost_usd, unpriced_calls }: Spent): string {
  if (calls > 0 && unpriced_calls >= calls && cost_usd === 0) return "unknown";
  return `${formatMoney(cost_usd)}${unpriced_calls === 0 ? "" : " + ?"}`;
}

/** Shape: `480`, `unknown`, `480 + ?` where the tokens of some calls are unknown. */
export function formatTokens({ calls, tokens, uncounted_calls: uncounted = 0 }: Spent): string {
  if (calls > 0 && uncounted >= calls && tokens === 0) return "unknown";
  return `${formatNumber(tokens)}${uncounted === 0 ? "" : " + ?"}`;
}

export function formatNumber(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

/** Units: 0..1. */
export function formatShare(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** `1 file`, `2 files`. */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatNumber(count)} ${count === 1 ? noun : plural}`;
}

/** How long ago, roughly. Units: milliseconds since the epoch. */
export function formatAgo(atMs: number, nowMs: number): string {
  const seconds = (nowMs - atMs) / 1000;
  if (seconds < -5) return `in ${formatRoughly(-seconds)}`;
  return seconds < 5 ? "just now" : `${formatRoughly(seconds)} ago`;
}

function formatRoughly(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** The time of day in the zone of the reader; with its day where that is not today's. */
export function formatClock(at: string, nowMs: number): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  const two = (value: number): string => String(value).padStart(2, "0");
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  const isToday = time.toDateString() === new Date(nowMs).toDateString();
  return isToday ? clock : `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`;
}
