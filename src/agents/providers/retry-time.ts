/**
 * When a provider wants to be asked again, in all the forms in which they say it.
 *
 * Order: `retry-after-ms`, `retry-after` (seconds or a date), then the resets of used-up limits, then the body's words.
 * What cannot be read counts as not said. Source: RFC 9110 10.2.3; FAULTS 26; the providers' pages on rate limits.
 */
import { LIMITS } from "../../base/limits.js";

export interface Refusal {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly nowMs: number;
}

/** Units: milliseconds of wall time, after now; `undefined` when nothing readable was said, or a time that has passed. */
export function computeRetryAtMs(refusal: Refusal): number | undefined {
  const { nowMs } = refusal;
  const atMs = fromRetryAfter(refusal) ?? fromResets(refusal) ?? fromBody(refusal);
  return atMs === undefined || atMs <= nowMs ? undefined : Math.min(atMs, nowMs + LIMITS.retryAfterMsMax);
}

function fromRetryAfter({ headers, nowMs }: Refusal): number | undefined {
  for (const name of ["retry-after-ms", "x-ms-retry-after-ms"]) {
    const milliseconds = readNumber(headers[name]);
    if (milliseconds !== undefined) return nowMs + milliseconds;
  }
  const said = headers["retry-after"];
  const seconds = readNumber(said);
  return seconds === undefined ? readDate(said) : nowMs + seconds * 1_000;
}

function readNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

/** A zone at the end: `Z`, `GMT`, `UTC`, `+01:00`. */
const ZONE = /(?:Z|GMT|UTC|[+-]\d\d:?\d\d)$/i;

/** An HTTP date or an ISO time, in UTC where it names no zone; a bare number is neither. */
function readDate(text: string | undefined): number | undefined {
  if (text === undefined || !/[A-Za-z]{3}|\d{4}-\d\d-\d\d/.test(text)) return undefined;
  const plain = text.trim();
  // Without a zone a time would be one of this machine's.
  const atMs = Date.parse(
    ZONE.test(plain) ? plain : /^\d{4}-\d\d-\d\d$/.test(plain) ? plain : `${plain}${/^\d/.test(plain) ? "Z" : " UTC"}`,
  );
  return Number.isNaN(atMs) ? undefined : atMs;
}

const RESET = /^(?:anthropic-ratelimit-(?<a>.+)-reset|x-ratelimit-reset-(?<b>.+)|(?:x-)?ratelimit-reset)$/;

/** The latest reset of the limits that are used up; where no count of what is left was given, of all of them. */
function fromResets({ headers, nowMs }: Refusal): number | undefined {
  const resets = Object.entries(headers).flatMap(([name, value]) => {
    const match = RESET.exec(name);
    const atMs = match === null ? undefined : readReset(value, nowMs);
    if (atMs === undefined) return [];
    const left = headers[remainingOf(name)];
    return [{ atMs, isUsedUp: left === undefined ? undefined : Number(left) <= 0 }];
  });
  const usedUp = resets.filter(({ isUsedUp }) => isUsedUp === true);
  const counted = usedUp.length > 0 ? usedUp : resets.filter(({ isUsedUp }) => isUsedUp === undefined);
  return counted.length === 0 ? undefined : Math.max(...counted.map(({ atMs }) => atMs));
}

function remainingOf(name: string): string {
  return name.startsWith("anthropic-") ? name.replace(/-reset$/, "-remaining") : name.replace("reset", "remaining");
}

const EPOCH_SECONDS_MIN = 1_000_000_000;
const EPOCH_MS_MIN = 1_000_000_000_000;

/** A date, a span such as `6m0s`, seconds from now, or seconds or milliseconds since the epoch. */
function readReset(text: string, nowMs: number): number | undefined {
  const number = readNumber(text);
  if (number !== undefined) return readMoment(number, nowMs);
  const spanMs = readSpanMs(text);
  return spanMs === undefined ? readDate(text) : nowMs + spanMs;
}

function readMoment(number: number, nowMs: number): number {
  if (number >= EPOCH_MS_MIN) return number;
  return number >= EPOCH_SECONDS_MIN ? number * 1_000 : nowMs + number * 1_000;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const UNIT = "(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)";
const SPAN_TEXT = String.raw`(?:\d{1,15}(?:\.\d{1,15})?\s{0,8}${UNIT}(?![a-z])\s{0,8})+`;
const COMPACT_TEXT = String.raw`(?:\d{1,15}(?:\.\d{1,15})?(?:ms|[smhd]))+`;
const SPAN = new RegExp(`^\\s*(?:${SPAN_TEXT}|${COMPACT_TEXT})\\s*$`, "i");
const PART = /(?<!\d)(\d{1,15}(?:\.\d{1,15})?)\s{0,8}(milliseconds?|ms|[smhd])/gi;

/** No provider says how long to wait in more words than this. */
const SPAN_CHARS_MAX = 200;

/** `6m0s`, `1.5s`, `350ms`, `2 minutes`. */
function readSpanMs(text: string): number | undefined {
  if (text.length > SPAN_CHARS_MAX || !SPAN.test(text)) return undefined;
  let total = 0;
  for (const [, count, unit = "s"] of text.matchAll(PART)) {
    const word = unit.toLowerCase();
    total += Number(count) * (UNIT_MS[word.startsWith("mil") ? "ms" : word] ?? 0);
  }
  return total;
}

/** Words of bodies: the first group is a span or a number of seconds. */
const BODY_SPANS = [
  /"retryDelay"\s*:\s*"([\d.]+s)"/i,
  /"retry_after(?:_seconds)?"\s*:\s*"?([\d.]+)/i,
  new RegExp(
    `(?:try again|retry|available again|resets?)\\s{1,8}(?:after|in)\\s{1,8}(?:about\\s{1,8})?(${COMPACT_TEXT}|${SPAN_TEXT})`,
    "i",
  ),
  /(?:try again|retry)\s{1,8}(?:after|in)\s{1,8}(\d{1,15}(?:\.\d{1,15})?)(?![\d.]{0,15}\s{0,8}[a-z])/i,
];
/** The first group is a moment. */
const BODY_MOMENTS = [
  /"resets?_?at"\s*:\s*"?([^",}\s]+)/i,
  /resets? at\s{1,8}(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d))/i,
  /limit reached\|(\d{10,13})/i,
];

/** What a body says of waiting stands at its beginning. */
const BODY_CHARS_MAX = 16 * 1024;

function fromBody({ body: whole, nowMs }: Refusal): number | undefined {
  const body = whole.slice(0, BODY_CHARS_MAX);
  for (const pattern of BODY_SPANS) {
    const said = pattern.exec(body)?.[1];
    const seconds = readNumber(said);
    const spanMs = seconds === undefined ? said && readSpanMs(said) : seconds * 1_000;
    if (typeof spanMs === "number") return nowMs + spanMs;
  }
  for (const pattern of BODY_MOMENTS) {
    const said = pattern.exec(body)?.[1];
    const atMs = said === undefined ? undefined : readReset(said, nowMs);
    if (atMs !== undefined) return atMs;
  }
  return undefined;
}
