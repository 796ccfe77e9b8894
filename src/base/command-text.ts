/**
 * The one writer of commands that are shown to people: what it writes works as it stands, pasted into any shell.
 *
 * Owns: which verbs are shown, with how many words and which flags (a test holds them against the command line's own
 * definition), and how a word stands in a command. Flags that a person gave to this command (`--store`, `--config`) are
 * added by the face that shows it.
 *
 * H1: every value is quoted; one that begins with a dash stands where no verb takes it for a flag.
 * H2: what only the person knows is a blank, in capitals; no door takes a blank for an answer.
 */
import { quoteArgument } from "./shell-text.js";

/** A part of a command that only the person knows. */
export interface Blank {
  readonly blank: string;
}
export type Word = string | Blank;

/** Stands for the answer to a question that has no choices. */
export const ANSWER_BLANK: Blank = { blank: "ANSWER" };

interface Verb {
  /** The fewest and the most words that it takes. */
  readonly words: readonly [number, number];
  readonly flags: readonly `--${string}`[];
}

/** Every verb that is shown in a command, with the flags that are. */
export const SHOWN_VERBS = {
  answer: { words: [2, 4], flags: ["--output"] },
  "audit show": { words: [0, 1], flags: [] },
  "audit verify": { words: [0, 1], flags: [] },
  "checkpoints export": { words: [1, 1], flags: [] },
  "checkpoints import": { words: [1, 1], flags: ["--task"] },
  "checkpoints list": { words: [0, 1], flags: [] },
  "checkpoints prune": { words: [0, 1], flags: ["--history"] },
  "checkpoints show": { words: [1, 1], flags: [] },
  "config show": { words: [0, 0], flags: [] },
  "debug diff-checkpoints": { words: [0, 0], flags: ["--from", "--to", "--task"] },
  "debug validate-checkpoint": { words: [0, 0], flags: ["--file"] },
  doctor: { words: [0, 0], flags: ["--models", "--tasks"] },
  events: { words: [1, 1], flags: ["--follow"] },
  fork: { words: [1, 1], flags: ["--from"] },
  init: { words: [0, 1], flags: [] },
  "keys accept": { words: [1, 1], flags: [] },
  "keys ack": { words: [0, 0], flags: [] },
  "keys init": { words: [0, 0], flags: ["--key-file"] },
  "keys rotate": { words: [0, 1], flags: ["--task-key", "--reencrypt"] },
  "keys show": { words: [0, 1], flags: [] },
  "keys verify": { words: [0, 1], flags: [] },
  list: { words: [0, 0], flags: [] },
  mcp: { words: [0, 0], flags: ["--root", "--allow-modules", "--allow-answers"] },
  recover: { words: [0, 0], flags: [] },
  resume: {
    words: [0, 1],
    flags: ["--accept-changes", "--accept-loss", "--from", "--here", "--plan", "--take-over"],
  },
  run: { words: [0, 1], flags: ["--new", "--task"] },
  show: { words: [1, 2], flags: [] },
  stop: { words: [1, 1], flags: [] },
  "store remove": { words: [1, 1], flags: [] },
  "store restore": { words: [1, 1], flags: [] },
  trust: { words: [0, 1], flags: [] },
  validate: { words: [1, 1], flags: [] },
} as const satisfies Readonly<Record<string, Verb>>;

export type ShownVerb = keyof typeof SHOWN_VERBS;
/** Flags of every verb. */
type CommonFlag = "--store" | "--json" | "--help";
type FlagOf<V extends ShownVerb> = (typeof SHOWN_VERBS)[V]["flags"][number] | CommonFlag;
/** A flag without a value is `true`. */
export type FlagsOf<V extends ShownVerb> = { readonly [F in FlagOf<V>]?: Word | true };

/** Writes the command of a verb with its words and flags. */
export type CommandWriter = <V extends ShownVerb>(verb: V, words?: readonly Word[], flags?: FlagsOf<V>) => string;

export const writeCommand: CommandWriter = (verb, words = [], flags = {}) => {
  const { "--store": store, ...others } = flags as Readonly<Record<string, Word | true>>;
  const start = ["splashdown", ...(store === undefined ? [] : [writeFlag("--store", store, " ")]), verb];
  const glue = verb.startsWith("debug ") ? "=" : " ";
  const options = Object.entries(others).map(([flag, value]) => writeFlag(flag, value, glue));
  const operands = words.map(writeWord);
  const isDashed = words.some((word) => typeof word === "string" && word.startsWith("-"));
  return [...start, ...(isDashed ? [...options, "--", ...operands] : [...operands, ...options])].join(" ");
};

function writeFlag(flag: string, value: Word | true, glue: string): string {
  if (value === true) return flag;
  return `${flag}${typeof value === "string" && value.startsWith("-") ? "=" : glue}${writeWord(value)}`;
}

function writeWord(word: Word): string {
  return typeof word === "string" ? quoteArgument(word) : word.blank;
}

/** Text that a hint names; anything else stands as JSON. */
type Facts = Readonly<Record<string, unknown>>;

/**
 * A hint of the error table with its details: `{name}` is a detail or, without it, a blank; ` {name?}` a detail or nothing.
 *
 * Shape: what stands before the command is a sentence, in which a detail stands as it is.
 */
export function fillHint(hint: string, details: Facts): string {
  const at = hint.indexOf("splashdown ");
  if (at < 0) return fillSentence(hint, details);
  return `${fillSentence(hint.slice(0, at), details)}${fillCommand(hint.slice(at), details)}`;
}

function fillSentence(text: string, details: Facts): string {
  return text.replace(/( ?)\{(\w+)(\??)\}/g, (_whole, ...[space = "", name = "", optional = ""]: string[]) => {
    const value = textOf(details[name]);
    return value === undefined && optional === "?" ? "" : `${space}${value ?? name.toUpperCase()}`;
  });
}

function fillCommand(template: string, details: Facts): string {
  const [, ...words] = template.split(" ");
  const [first = "", second = ""] = words;
  if (first === "{verb?}") return ["splashdown", textOf(details["verb"]), ...words.slice(1)].filter(Boolean).join(" ");
  const verb = (Object.hasOwn(SHOWN_VERBS, `${first} ${second}`) ? `${first} ${second}` : first) as ShownVerb;
  const operands: Word[] = [];
  const flags: Record<string, Word | true> = {};
  let open: string | undefined;
  for (const part of words.slice(verb.split(" ").length).flatMap((word) => word.split("="))) {
    const filled = fillWord(part, details);
    if (part.startsWith("--")) flags[part] = true;
    else if (filled !== undefined && open !== undefined) flags[open] = filled;
    else if (filled !== undefined) operands.push(filled);
    open = part.startsWith("--") ? part : undefined;
  }
  return writeCommand(verb, operands, flags);
}

/** Shape: `undefined` for a detail that may be left out, and is. */
function fillWord(word: string, details: Facts): Word | undefined {
  const [, name, optional] = /^\{(\w+)(\??)\}$/.exec(word) ?? [];
  if (name === undefined) return word === word.toUpperCase() ? { blank: word } : word;
  return textOf(details[name]) ?? (optional === "?" ? undefined : { blank: name.toUpperCase() });
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
