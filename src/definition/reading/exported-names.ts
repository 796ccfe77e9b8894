/**
 * Whether a file of code may export a name, told from its text alone: nothing of it runs.
 *
 * It is asked whether the name occurs at all, which is all that can be told of a file that names its exports in many ways.
 * What takes over the exports of another file, or sets them as a whole, may export anything.
 */

const EXPORTS_ANYTHING = ["export *", "export*", "module.exports", "exports["];

export function mayExport(text: string, name: string): boolean {
  return EXPORTS_ANYTHING.some((words) => text.includes(words)) || hasWord(text, name);
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (!isNamePart(text[at - 1]) && !isNamePart(text[at + word.length])) return true;
  }
  return false;
}

function isNamePart(character: string | undefined): boolean {
  return character !== undefined && /[\w$]/.test(character);
}
