/**
 * The value of a rendered text, read as Conductor reads it: YAML 1.2 with ruamel's rules for plain scalars.
 *
 * Shape: a text that is no YAML, or that holds nothing but a comment, stays the text it is. Dates and times become ISO text.
 * A number that JSON cannot hold exactly stays text. Source: ruamel.yaml 0.17 `resolver.py` and `constructor.py` for
 * YAML 1.2, Conductor `executor/set_step.py`.
 */
import type { ScalarTag } from "yaml";
import type { JsonValue } from "../../base/json.js";

const NULL_TEXTS = new Set(["null", "~", "Null", "NULL"]);
const INTEGER = /^(?:[-+]?0b[01_]+|[-+]?0x[0-9a-fA-F_]+|[-+]?0o[0-7_]+|[-+]?[0-9][0-9_]*)$/;
const FLOAT =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+|[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?)$/;
const TIME =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt]|[ \t]+)(\d{1,2}):(\d{2}):(\d{2})(?:\.(\d*))?(?:[ \t]*(?:Z|([-+])(\d{1,2})(?::(\d{2}))?))?$/;
const ALIASES_MAX = 100;

/** Errors: none for a text that is no YAML; `keyProblem` where a map has a key that is no text, which JSON cannot hold. */
export async function readYamlValue(
  text: string,
): Promise<{ readonly value: JsonValue } | { readonly keyProblem: string }> {
  if (text.trim() === "") return { value: "" };
  const { parseDocument, isCollection, isScalar, visit } = await import("yaml");
  const document = parseDocument(text, {
    version: "1.2",
    schema: "failsafe",
    customTags: TAGS,
    merge: true,
    uniqueKeys: true,
    prettyErrors: false,
    logLevel: "silent",
  });
  // A tag that nobody knows is a warning here and an error there.
  if (document.errors.length > 0 || document.warnings.length > 0) return { value: text };
  if (document.contents === null) return { value: NULL_TEXTS.has(text.trim()) ? null : text };
  let keyProblem: string | undefined;
  let hasCollectionAsKey = false;
  visit(document, {
    Pair: (_key, { key }) => {
      if (isCollection(key)) hasCollectionAsKey = true;
      else if (isScalar(key) && typeof key.value !== "string" && typeof key.value !== "symbol")
        keyProblem ??= String(key);
    },
  });
  // Such as `{{ a }}`, which is a map with a map as its key.
  if (hasCollectionAsKey) return { value: text };
  if (keyProblem !== undefined) return { keyProblem };
  try {
    const value = document.toJS({ maxAliasCount: ALIASES_MAX }) as JsonValue;
    return { value: value === null && !NULL_TEXTS.has(text.trim()) ? text : value };
  } catch {
    // A merge of what is no map, or too many aliases.
    return { value: text };
  }
}

const tag = (name: string, test: RegExp, resolve: (text: string) => JsonValue): ScalarTag => ({
  tag: `tag:yaml.org,2002:${name}`,
  default: true,
  test,
  resolve,
});

const TAGS: ScalarTag[] = [
  tag("null", /^(?:~|null|Null|NULL|)$/, () => null),
  tag("bool", /^(?:true|True|TRUE|false|False|FALSE)$/, (text) => text.toLowerCase() === "true"),
  tag("int", INTEGER, readInteger),
  tag("float", FLOAT, readFloat),
  tag("timestamp", TIME, readTime),
];

function readInteger(text: string): JsonValue {
  const [, sign = "", digits = ""] = /^([-+]?)(.*)$/.exec(text.replaceAll("_", "")) ?? [];
  const value = Number(digits) * (sign === "-" ? -1 : 1);
  return Number.isSafeInteger(value) ? value + 0 : text;
}

function readFloat(text: string): JsonValue {
  const value = Number(text.replaceAll("_", ""));
  return Number.isFinite(value) ? value : text;
}

/** A time with a zone becomes UTC, as ruamel has it; the answer names no zone. */
function readTime(text: string): JsonValue {
  const [, year, month, day, hour, minute, second, fraction = "", sign, zoneHours = "0", zoneMinutes = "0"] =
    TIME.exec(text) ?? [];
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const isReal =
    new Date(at).getUTCDate() === Number(day) && new Date(at).getUTCMonth() === Number(month) - 1 && Number(hour) < 24;
  if (!isReal) return text;
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000 * (sign === "-" ? -1 : 1);
  const micros = fraction.slice(0, 6).padEnd(6, "0");
  const seconds = new Date(at - (sign === undefined ? 0 : offset)).toISOString().slice(0, 19);
  return Number(micros) === 0 ? seconds : `${seconds}.${micros}`;
}
