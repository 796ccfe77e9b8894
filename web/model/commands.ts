/** The command that does what a button does, as it is typed in a shell. */
export function quoteWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

export function formatCommand(...words: readonly (string | undefined)[]): string {
  return ["splashdown", ...words.filter((word) => word !== undefined).map(quoteWord)].join(" ");
}
