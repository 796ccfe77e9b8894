/** Tests that a table names, and whether they are there. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface NamedTest {
  /** Below `test/`. */
  readonly file: string;
  /** The text in the file, or the beginning of it. */
  readonly title: string;
}

/** Only where a test, a group of tests or a scenario is named counts. */
export function hasTitle({ file, title }: NamedTest): boolean {
  const path = join(import.meta.dirname, "..", file);
  if (!existsSync(path)) return false;
  const text = readFileSync(path, "utf8");
  return [`"${title}`, `\`${title}`].some((start) => text.includes(start));
}
