/**
 * Tries a regular expression with long texts made of its own parts, where one that goes back over what it has read shows.
 *
 * A text is a beginning that the expression likes, one of its parts again and again, and an end that it does not like. Short
 * texts come first, so that an expression that never ends is found by one that only takes long.
 */
import { Script } from "node:vm";

export interface Attack {
  /** What was repeated. */
  readonly pump: string;
  readonly kib: number;
  /** Time at the last size, and over the one before. */
  readonly ms: number;
  readonly ratio: number;
}

const END = "\u0001";
/** Sizes on the way there; each takes four times the one before where all is well. */
const SCREEN_CHARS = [24, 96, 2_048, 8_192, 32_768] as const;
/** A linear expression takes less than a tenth of it for the longest of these. */
const SCREEN_MS_MAX = 60;
const MEBI = 1024 * 1024;
const RATIO_MAX = 3;
/** Shorter times say nothing of a ratio. */
const MEASURED_MS_MIN = 60;
const WORST_KEPT = 2;

/** The worst that was found where time does not grow with the text alone; `undefined` when all is well. */
export function attackPattern(pattern: RegExp): Attack | undefined {
  const screened: { text: string; pump: string; ms: number }[] = [];
  for (const { before, pump } of computeTexts(pattern)) {
    let ms = 0;
    for (const chars of SCREEN_CHARS) {
      const last = ms;
      ms = measureMs(pattern, makeText(before, pump, chars));
      if (ms > SCREEN_MS_MAX && measureMs(pattern, makeText(before, pump, chars)) > SCREEN_MS_MAX)
        return { pump, kib: chars / 1024, ms, ratio: ms / Math.max(last, 0.01) };
    }
    screened.push({ text: before, pump, ms });
  }
  screened.sort((first, second) => second.ms - first.ms);
  for (const { text, pump } of screened.slice(0, WORST_KEPT)) {
    const found = compareAtLength(pattern, text, pump);
    if (found !== undefined) return found;
  }
  return undefined;
}

function compareAtLength(pattern: RegExp, before: string, pump: string): Attack | undefined {
  const [one, two] = [makeText(before, pump, MEBI), makeText(before, pump, 2 * MEBI)];
  let worst: Attack | undefined;
  // The best of three: what else the machine does only adds.
  for (let tries = 0; tries < 3; tries += 1) {
    const [first, ms] = [measureMs(pattern, one), measureMs(pattern, two)];
    const ratio = ms / Math.max(first, 1);
    if (ms < MEASURED_MS_MIN || ratio < RATIO_MAX) return undefined;
    if (worst === undefined || ratio < worst.ratio) worst = { pump, kib: 2048, ms, ratio };
  }
  return worst;
}

function makeText(before: string, pump: string, chars: number): string {
  return before + pump.repeat(Math.ceil(chars / pump.length)) + END;
}

/** Time of the processor, whatever else the machine does; endless ones are ended. */
function measureMs({ source, flags }: RegExp, text: string): number {
  const all = new RegExp(source, flags.includes("g") ? flags : `${flags}g`);
  const one = new RegExp(source, flags.replace("g", ""));
  const from = process.cpuUsage();
  try {
    runFor(ENDED_AFTER_MS, () => one.test(text) || text.replace(all, ""));
  } catch {
    return Infinity;
  }
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

const ENDED_AFTER_MS = 3_000;
const CALL = new Script("globalThis.attacked()");

function runFor(timeout: number, work: () => unknown): void {
  Object.assign(globalThis, { attacked: work });
  CALL.runInThisContext({ timeout });
}

interface Text {
  readonly before: string;
  readonly pump: string;
}

const PARTS_MAX = 24;

function computeTexts(pattern: RegExp): Text[] {
  const parts = samplesOf(pattern);
  const pumps = new Set<string>([" ", "\n", "a", "\\", '"']);
  for (let at = 0; at < parts.length; at += 1)
    for (let length = 1; length <= 3 && at + length <= parts.length; length += 1)
      pumps.add(parts.slice(at, at + length).join(""));
  // Literal text of more than three characters, with what may follow.
  const literals = pattern.source.match(/[A-Za-z0-9_:/-]{3,24}/g) ?? [];
  for (const literal of literals.slice(0, 8)) for (const end of ["", "-", "a", " ", ".", "="]) pumps.add(literal + end);
  for (let length = 4; length <= parts.length; length += 1) pumps.add(parts.slice(0, length).join(""));
  pumps.delete("");
  const whole = parts.join("");
  const befores = new Set(["", whole.slice(0, whole.length >> 1), ...literals.slice(0, 1)]);
  const texts: Text[] = [];
  for (const pump of pumps) for (const before of befores) texts.push({ before, pump });
  return texts;
}

/** One character for each part of the expression that takes characters, in order. */
function samplesOf({ source, flags }: RegExp): string[] {
  const atoms = source.match(
    /\\u\{[^}]*\}|\\[pP]\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.|\[(?:\\.|[^\]\\])*\]|[^\\[\](){}|?*+^$]/gsu,
  );
  const found: string[] = [];
  for (const atom of atoms ?? []) {
    const sample = sampleOf(atom, flags);
    if (sample !== undefined && (found.at(-1) !== sample || found.length < 4)) found.push(sample);
    if (found.length >= PARTS_MAX) break;
  }
  return found;
}

const CANDIDATES = Array.from("a-A1_ .:/\"'`\n\t,;=<>@#{}[]()*+?!$%&|~^\\é\u001b\u009b\u200b");

function sampleOf(atom: string, flags: string): string | undefined {
  if (/^\\[bBdDwWsSpPkKuxnrtfv0cA-Za-z1-9]/.test(atom) || atom.startsWith("[") || atom.startsWith("\\")) {
    if (/^\\[bBk1-9]/.test(atom)) return undefined;
    try {
      const one = new RegExp(`^${atom}$`, flags.replace(/[gy]/g, ""));
      return CANDIDATES.find((each) => one.test(each));
    } catch {
      return undefined;
    }
  }
  return atom === "." ? "a" : atom;
}
