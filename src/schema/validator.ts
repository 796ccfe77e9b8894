/**
 * What a validator is, for generated and for compiled schemas alike.
 *
 * Owns: the shape of a verdict and its defects. `schemas/*.schema.json` are the only truth about shapes on disk and on
 * the wire; `generated/` holds a type and a validator for each and is never edited; `compile.ts` is for schemas that
 * arrive at run time. Rooms translate defects into their own errors (line and column, file name).
 *
 * How to add a schema: write `schemas/<name>.schema.json` with `$schema` (draft 2020-12), a `$id` that ends with the
 * file's name, a PascalCase `title` and at least one entry in `examples`; run `node scripts/generate-types.mjs`; import
 * the type `<Title>` and `validate<Title>` from `../schema/generated/<name>.js`. Definitions under `$defs` become
 * exported types too (their `title`, else their key), also for a `$ref` from another schema. Formats: uuid, date-time,
 * uri, regex. Defaults are filled in only for schemas named in `FILLS_DEFAULTS` of the script. `--check` finds drift.
 *
 * H1: a validator never changes its input, but for filling in defaults where a schema is listed for that.
 * H2: a verdict names all defects, not the first one.
 */

/** One thing that is wrong with a value. */
export interface SchemaDefect {
  /** JSON Pointer of the place, empty for the whole value. Source: RFC 6901. */
  readonly path: string;
  readonly message: string;
  /** The schema's word that refused, such as `required` or `additionalProperties`. */
  readonly keyword: string;
  /** Facts of that word, such as `{additionalProperty: "agnts"}`. */
  readonly params: Readonly<Record<string, unknown>>;
}

export type Verdict<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly defects: readonly SchemaDefect[] };

/** Judges a value; never throws on any JSON value. */
export type Validator<T> = (value: unknown) => Verdict<T>;

/** What ajv's code reports of a defect. */
interface RawDefect {
  readonly instancePath: string;
  readonly message?: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A validation function as ajv makes it: it leaves its findings on itself. */
export interface RawValidate {
  (value: unknown): unknown;
  errors?: readonly RawDefect[] | null;
}

/** Defects told of one value at most; the rest would only repeat. */
const DEFECTS_MAX = 100;

/** Wraps a function of ajv's making as a validator. */
export function createValidator<T>(validate: RawValidate): Validator<T> {
  return (value) => {
    if (validate(value) === true) return { ok: true, value: value as T };
    const defects = (validate.errors ?? []).slice(0, DEFECTS_MAX).map(toDefect);
    validate.errors = null;
    return { ok: false, defects };
  };
}

function toDefect(raw: RawDefect): SchemaDefect {
  return { path: raw.instancePath, message: describe(raw), keyword: raw.keyword, params: raw.params };
}

function describe(raw: RawDefect): string {
  const { additionalProperty, unevaluatedProperty, allowedValues, allowedValue } = raw.params;
  const extra = additionalProperty ?? unevaluatedProperty;
  if (typeof extra === "string") return `has an unknown key ${JSON.stringify(extra)}`;
  if (Array.isArray(allowedValues))
    return `must be one of ${allowedValues.map((item) => JSON.stringify(item)).join(", ")}`;
  if (raw.keyword === "const") return `must be ${JSON.stringify(allowedValue)}`;
  return raw.message ?? `fails ${raw.keyword}`;
}

/** The parts of a JSON Pointer, unescaped. */
export function parsePointer(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}
