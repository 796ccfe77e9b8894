/**
 * Texts of models, programs and people, made fit to be seen: colours of terminals are taken out, other control
 * characters and those that turn the reading order are shown as what they are, and links are told from text.
 */
const TERMINAL_CODES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function showText(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(TERMINAL_CODES, "").replace(HIDDEN, nameCharacter);
}

function nameCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export interface TextPiece {
  readonly text: string;
  /** Where it leads: http or https, and shown in full. */
  readonly link?: string;
}

/** Shape: the pieces together are the text. */
export function splitLinks(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(/\bhttps?:\/\/[^\s<>"'`\\]+/g)) {
    const link = found.replace(/[).,;:!?\]}]+$/, "");
    if (index > end) pieces.push({ text: text.slice(end, index) });
    pieces.push({ text: link, link });
    end = index + link.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}

/** The beginning of a long text, never half a character. Units: `length` in UTF-16 units. */
export function cutText(text: string, length: number): { readonly text: string; readonly left: number } {
  if (text.length <= length) return { text, left: 0 };
  const at = text.codePointAt(length - 1) ?? 0;
  const cut = text.slice(0, at > 0xffff ? length - 1 : length);
  return { text: cut, left: text.length - cut.length };
}
