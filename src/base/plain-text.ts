/** Text from agents, files and people, shown as text; and counts in words. */

/** `1 file`, `2 files`; what has another plural says it. */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Makes control characters visible (U+001B as `\u001b`), those that turn the reading order too; newlines and tabs stay. */
export function showControls(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    const code = character.charCodeAt(0);
    return code === 13 ? "" : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}
