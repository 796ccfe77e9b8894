/**
 * Faults of a definition or settings file: found all in one pass, shown with place and suggestion.
 *
 * D4: a loader throws once, with every fault; its first line is the first fault of the file.
 */
import { SplashdownError } from "../../base/errors.js";
import type { ErrorCode } from "../../base/error-table.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";

/** What kind of fault it is: for programs; what to do stands in its words. */
export const FAULT_CODES = [
  ...(["syntax", "too_large", "duplicate_key", "unknown_key", "misplaced_key", "missing_key", "wrong_type"] as const),
  ...(["wrong_value", "conflict", "unknown_name", "duplicate_name", "template", "order", "nesting", "file"] as const),
  ...(["variable", "secret", "meaning"] as const),
] as const;
export type FaultCode = (typeof FAULT_CODES)[number];

/** Units: line and column count from 1; both absent for an object given in a program. */
export interface DefinitionFault {
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly code: FaultCode;
  /** Where in the value: `phases[0].specialists[1].prompt`. */
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string;
  /** The line of the file, for the caret. */
  readonly excerpt?: string;
  /** Length of what the caret marks. */
  readonly width?: number;
}

/** Where a value stands in a file. */
export interface SourcePlace {
  readonly file?: string;
  readonly line: number;
  readonly column: number;
  readonly excerpt: string;
  readonly width: number;
}

/** A part of a text value. Units: offset and width in UTF-16 units of the value. */
export interface TextPart {
  readonly text: string;
  readonly offset: number;
  readonly width: number;
}

/** Knows the place of keys and values; absent for objects of programs. */
export interface PlaceFinder {
  /** The place of a part of the text at a path, also inside block scalars; `undefined` where it is written otherwise. */
  placeInText?(path: FaultPath, part: TextPart): SourcePlace | undefined;
  placeOf(path: FaultPath, of: "key" | "value"): SourcePlace | undefined;
}

export type FaultPath = readonly (string | number)[];

export interface FaultNote {
  /** By default `meaning`: the parts are right, and do not go together. */
  readonly code?: FaultCode;
  readonly path: FaultPath;
  readonly message: string;
  readonly suggestion?: string;
  /** Points at the key, not at the value. */
  readonly atKey?: boolean;
  /** Points at a part of the text there. */
  readonly within?: TextPart;
}

/** Where those who check put what they find. */
export type FaultSink = Pick<FaultList, "add" | "warn" | "isFull">;

/** Collects faults of one loading. */
export class FaultList {
  readonly faults: DefinitionFault[] = [];
  readonly warnings: string[] = [];
  readonly #places: PlaceFinder;
  readonly #seen = new Set<string>();

  constructor(places: PlaceFinder = { placeOf: () => undefined }) {
    this.#places = places;
  }

  /** No more are taken: what a fault would suggest need not be looked for. */
  get isFull(): boolean {
    return this.faults.length >= LIMITS.workflowFaultsMax;
  }

  add(note: FaultNote): void {
    if (!this.isFull) this.addPlaced(this.#place(note));
  }

  /** A word that stops nothing: it is told with the notes of a workflow that loads. */
  warn(note: FaultNote): void {
    if (this.warnings.length >= LIMITS.workflowFaultsMax) return;
    const warning = formatFault(this.#place(note));
    if (!this.warnings.includes(warning)) this.warnings.push(warning);
  }

  #place(note: FaultNote): DefinitionFault {
    const { code = "meaning", path, message, suggestion, within } = note;
    const part = within === undefined ? undefined : this.#places.placeInText?.(path, within);
    const place = part ?? this.#places.placeOf(path, note.atKey === true ? "key" : "value");
    return { ...place, code, path: formatPath(path), message, ...(suggestion === undefined ? {} : { suggestion }) };
  }

  addPlaced(fault: DefinitionFault): void {
    const identity = JSON.stringify([fault.path, fault.line, fault.message]);
    if (this.#seen.has(identity) || this.isFull) return;
    this.#seen.add(identity);
    this.faults.push(fault);
  }

  /** Faults in the order of the file. */
  sorted(): DefinitionFault[] {
    return [...this.faults].sort(
      (left, right) => (left.line ?? 0) - (right.line ?? 0) || (left.column ?? 0) - (right.column ?? 0),
    );
  }

  /** Throws when there is a fault. Errors: the code given, with all faults in `details.faults`. */
  raise(code: ErrorCode, file: string | undefined): void {
    if (this.faults.length > 0) throw createFaultError(code, this.sorted(), file);
  }
}

/** One error for all faults; its message lists them, the first line is the first fault. */
export function createFaultError(
  code: ErrorCode,
  faults: readonly DefinitionFault[],
  file: string | undefined,
): SplashdownError {
  return new SplashdownError(code, faults.map(formatFault).join("\n"), {
    details: {
      ...(file === undefined ? {} : { file }),
      faults: faults.map((fault) => ({ ...fault })),
    },
  });
}

/** `phases[0].specialists[1].prompt`; `$` for the whole file. */
export function formatPath(path: FaultPath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(part)) text += text === "" ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text === "" ? "$" : text;
}

/** The value at a path; `undefined` where there is none. */
export function valueAt(value: JsonValue | undefined, path: FaultPath): JsonValue | undefined {
  let current = value;
  for (const part of path) {
    if (Array.isArray(current) && typeof part === "number") current = (current as readonly JsonValue[])[part];
    else if (isJsonObject(current) && Object.hasOwn(current, String(part))) current = current[String(part)];
    else return undefined;
  }
  return current;
}

function formatFault(fault: ShownFault): string {
  const place =
    fault.line === undefined ? (fault.file ?? "") : `${fault.file ?? "workflow"}:${fault.line}:${fault.column ?? 1}`;
  const where = [place, fault.path === "$" ? "" : fault.path].filter((part) => part !== "").join(" ");
  const suggestion = fault.suggestion === undefined ? "" : ` (${fault.suggestion})`;
  return `${where === "" ? "" : `${where}: `}${fault.message}${suggestion}`;
}

/**
 * Faults for people: each with its line of the file and a caret.
 *
 * Shape: no trailing newline; faults in the order given.
 */
export function formatFaults(faults: readonly ShownFault[]): string {
  return faults.map(formatWithCaret).join("\n\n");
}

/** A fault as people read it. */
export type ShownFault = Omit<DefinitionFault, "code">;

function formatWithCaret(fault: ShownFault): string {
  const lines = [formatFault({ ...fault, suggestion: undefined })];
  if (fault.excerpt !== undefined && fault.line !== undefined) {
    const number = String(fault.line).padStart(5);
    const before = fault.excerpt.slice(0, (fault.column ?? 1) - 1).replace(/[^\t]/g, " ");
    lines.push(
      `${number} | ${fault.excerpt}`,
      `${" ".repeat(5)} | ${before}${"^".repeat(Math.max(fault.width ?? 1, 1))}`,
    );
  }
  if (fault.suggestion !== undefined) lines.push(`      = ${fault.suggestion}`);
  return lines.join("\n");
}
