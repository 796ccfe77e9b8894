/**
 * Times as people read them: by the clock of this machine's zone, which is named wherever a date stands. Views and `--json`
 * keep ISO-8601 UTC. Pure but for the zone, which is the process's.
 */

const pad = (value: number): string => String(value).padStart(2, "0");

/** Shape: `14:05:09`; what is no time comes back as it is. */
export function formatClock(iso: string): string {
  const at = new Date(iso);
  return isTime(at) ? `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}` : iso;
}

/** Shape: `2026-11-29`. */
export function formatDay(iso: string): string {
  const at = new Date(iso);
  return isTime(at) ? `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}` : iso;
}

/** The zone that holds at that time. Shape: `UTC`, `+01:00`, `-04:30`. */
export function formatZone(iso: string): string {
  const minutes = -new Date(iso).getTimezoneOffset();
  if (!Number.isFinite(minutes) || minutes === 0) return "UTC";
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

/** Shape: `2026-11-29 14:05:09 +01:00`. */
export function formatMoment(iso: string): string {
  return isTime(new Date(iso)) ? `${formatDay(iso)} ${formatClock(iso)} ${formatZone(iso)}` : iso;
}

/** A text with the times in it as people read them. */
export function localTimes(text: string): string {
  return text.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, formatMoment);
}

/** How long ago, in one unit. Shape: `12 s ago`, `3 min ago`, `5 h ago`, `2 days ago`; a time to come as a moment. */
export function formatAgo(iso: string, nowMs: number): string {
  const seconds = Math.floor((nowMs - Date.parse(iso)) / 1000);
  if (!Number.isFinite(seconds) || seconds < -60) return formatMoment(iso);
  if (seconds < 60) return `${Math.max(0, seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} days ago`;
}

/** Until a time to come. Shape: `in 40 s`, `in 3 min`; `now` for one that is past. */
export function formatUntil(iso: string, nowMs: number): string {
  const seconds = Math.ceil((Date.parse(iso) - nowMs) / 1000);
  if (!Number.isFinite(seconds)) return iso;
  if (seconds <= 0) return "now";
  if (seconds < 60) return `in ${seconds} s`;
  if (seconds < 3600) return `in ${Math.ceil(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `in ${Math.round(seconds / 3600)} h` : `in ${Math.round(seconds / 86_400)} days`;
}

function isTime(at: Date): boolean {
  return !Number.isNaN(at.getTime());
}
