/** How many columns text takes on a terminal, and text cut or wrapped to a number of columns. */

/** Made when something is cut: its tables take several milliseconds, which most commands have no use for. */
let segmenter: Intl.Segmenter | undefined;
/** Scripts and signs that terminals draw two columns wide. */
const WIDE =
  /\p{Emoji_Presentation}|\p{Regional_Indicator}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
/** Combining marks and joiners take none. */
const NONE = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
/** Makes the sign before it a wide picture. */
const PICTURE = "\ufe0f";
const COLOUR = /\u001b\[\d+m/g;

/**
 * Columns of a text on one line; colours take none.
 *
 * Units: as wide as any terminal may draw it. Some draw a joined picture (👩‍👩‍👧) as one sign and some as its parts: the
 * parts are counted.
 */
export function countColumns(text: string): number {
  const plain = text.replaceAll(COLOUR, "");
  if (/^[ -~]*$/.test(plain)) return plain.length;
  let columns = 0;
  for (const sign of plain) {
    if (sign === PICTURE) columns += 1;
    else if (!NONE.test(sign)) columns += WIDE.test(sign) ? 2 : 1;
  }
  return columns;
}

/** The text, or as much of its beginning as fits with an ellipsis; never a broken character. */
export function fitColumns(text: string, columns: number): string {
  if (countColumns(text) <= columns) return text;
  let used = 0;
  let kept = "";
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text)) {
    used += countColumns(segment);
    if (used > columns - 1) break;
    kept += segment;
  }
  return columns < 1 ? "" : `${kept}…`;
}

/**
 * Text on lines of so many columns, broken between words; what is longer than a line stays whole, so that paths and
 * commands can be copied.
 */
export function wrapColumns(text: string, columns: number): string[] {
  return text.split("\n").flatMap((line) => {
    if (countColumns(line) <= columns) return [line];
    const lines: string[] = [];
    for (const word of line.split(" ")) {
      const longer = lines.length === 0 ? word : `${lines.at(-1) ?? ""} ${word}`;
      if (lines.length === 0 || countColumns(longer) > columns) lines.push(word);
      else lines[lines.length - 1] = longer;
    }
    return lines;
  });
}
