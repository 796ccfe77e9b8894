/** Formats entries of the reference as text for people. */
import type { Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import type { Entry, KeyEntry } from "./entry.js";
import { listCodes, listStatuses } from "./errors.js";
import { listSettings, listVariables, listWorkflowKeys } from "./keys.js";
import { listVerbs } from "./verbs.js";

const SUGGESTED_MAX = 6;

/**
 * Every entry that the word names: a code, a status, a variable, a verb, a key (`effects`, `step.effects`), or all keys of an
 * owner (`retry`).
 *
 * Errors: USAGE_INVALID with names that are like it.
 */
export function findEntries(word: string, program: Command): Entry[] {
  const quick = [...listCodes(), ...listStatuses(), ...listVerbs(program)].filter((entry) => isNamed(entry, word));
  const slow: Entry[] = [...listWorkflowKeys(), ...listSettings(), ...listVariables()];
  const named = [...quick, ...slow.filter((entry) => isNamed(entry, word))];
  const owned = slow.filter((entry) => "owner" in entry && entry.owner === word && !named.includes(entry));
  if (named.length + owned.length > 0) return [...named, ...owned];
  const all = [...listCodes(), ...listVerbs(program), ...slow];
  const near = [...new Set(all.filter((entry) => isLike(entry, word)).map(({ name }) => name))].slice(0, SUGGESTED_MAX);
  const help = near.length === 0 ? "" : `; there are: ${near.join(", ")}`;
  throw new SplashdownError("USAGE_INVALID", `nothing is called ${JSON.stringify(word)}${help}`, {
    details: { verb: "explain" },
  });
}

function isNamed(entry: Entry, word: string): boolean {
  const name = entry.kind === "error" || entry.kind === "variable" ? word.toUpperCase() : word;
  return entry.name === name || ("key" in entry && entry.key === word);
}

function isLike({ name }: Entry, word: string): boolean {
  const [own, asked] = [name.toLowerCase(), word.toLowerCase()];
  const last = own.split(".").at(-1) ?? own;
  return own.includes(asked) || asked.includes(last) || (asked.length > 3 && last.startsWith(asked.slice(0, 4)));
}

/** Shape: keys that say the same of several owners are one entry. */
export function formatEntries(entries: readonly Entry[]): string {
  return [...new Set(entries.map(formatEntry))].join("\n\n");
}

function formatEntry(entry: Entry): string {
  switch (entry.kind) {
    case "error": {
      const again = entry.retryable ? ", a later try may go well" : "";
      return lines(entry, [
        ["exit status", `${entry.exit_status}${again}`],
        ["what to do", entry.remedy],
      ]);
    }
    case "status":
      return lines({ ...entry, name: `exit status ${entry.name}` }, [["codes", entry.codes.join(", ")]]);
    case "verb":
      return entry.help;
    case "variable":
      return lines(entry, []);
    case "key":
    case "setting":
      return lines(entry, describeKey(entry));
  }
}

function describeKey({ type, default: preset, required, places, example, kind }: KeyEntry): [string, string][] {
  return [
    ["type", `${type}${required ? ", required" : ""}`],
    ...(preset === undefined ? [] : [["default", preset] as [string, string]]),
    ["where", places.join(", ")],
    ["example", example],
    ["in", kind === "key" ? "workflow files" : "splashdown.config.yaml"],
  ];
}

function lines({ name, text }: Pick<Entry, "name" | "text">, facts: readonly (readonly [string, string])[]): string {
  const said = facts.filter(([, fact]) => fact !== "");
  return [`${name}: ${text}`, ...said.map(([label, fact]) => `  ${label.padEnd(11)}  ${fact}`)].join("\n");
}
