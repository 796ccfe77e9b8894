/** Text from agents, files and people, shown as text; counts and lengths of time in words. */

/** `1 file`, `2 files`; what has another plural says it. */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Seconds as people say them: 0.4 s, 12 s, 3 min 20 s, 2 h 5 min. */
export function formatDuration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Makes control characters visible (U+001B as `\u001b`), those that turn the reading order too; newlines and tabs stay. */
export function showControls(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    const code = character.charCodeAt(0);
    return code === 13 ? "" : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

const TAG_START = /<(?=[A-Za-z/!?])/g;
const FENCE_START = /^```[A-Za-z0-9_-]{0,32}$/;
const FENCE_END = "```";
/** Fences and blocks that our reading of a plain fence would not see. */
const ODD_FENCE = /^[ \t]{0,16}(?:~~~|````|[>*+-][ \t]{1,16}```|\d{1,9}[.)][ \t]{1,16}```|[ \t]{1,16}```)/m;

/**
 * Markdown in which no HTML is left: `<` before what would be a tag becomes `&lt;`.
 *
 * Shape: code between plain fences stays as it is, as it is shown as text; where a fence is of another kind nothing is
 * taken for code, so that no trick with fences brings a tag through.
 */
export function showMarkup(text: string): string {
  const show = (line: string): string => line.replace(TAG_START, "&lt;");
  if (ODD_FENCE.test(text)) return text.split("\n").map(show).join("\n");
  let isCode = false;
  const lines = text.split("\n").map((line) => {
    const isFence = isCode ? line === FENCE_END : FENCE_START.test(line);
    if (isFence) isCode = !isCode;
    return isFence || isCode ? line : show(line);
  });
  // An open end would hide what stands behind it from us, and not from everybody.
  return isCode ? text.split("\n").map(show).join("\n") : lines.join("\n");
}
