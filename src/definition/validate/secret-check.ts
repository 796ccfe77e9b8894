/**
 * Warns of secrets that a file itself carries: they would be sealed into every task that it starts, and into its copies.
 *
 * Looks at the file as it is written, before variables are filled in. A key of a provider may stay `${NAME}` and is read
 * when it is used (environment.ts); a step names its secrets and writes `{{ secrets.NAME }}`. What is found is not told.
 * Source: DESIGN section 10.
 */
import type { JsonValue } from "../../base/json.js";
import { isSecretName, SECRET_PATTERNS } from "../../base/secret-shapes.js";
import { isSecretPlace } from "../reading/environment.js";
import type { FaultList, FaultPath } from "../faults/fault.js";

/** Names that tell of a secret but hold names of secrets, or a number of tokens. */
const HARMLESS = new Set(["secrets", "max_tokens", "max_tokens_total", "tokens"]);
/** A text that is filled in later, as a whole or behind a word such as `Bearer`. */
const FILLED_LATER = /\{\{\s*secrets\./;
const VARIABLE = /\$\{[A-Za-z_]\w*(?::-[^{}]*)?\}/;

/** Adds a warning for each secret that stands in the file, and for each that is filled in too early. */
export function warnOfSecrets(value: JsonValue, faults: FaultList, path: FaultPath = []): void {
  if (typeof value === "string") return warnOfText(value, path, faults);
  if (typeof value !== "object" || value === null) return;
  const isList = Array.isArray(value);
  for (const [key, item] of Object.entries(value))
    if (item !== undefined) warnOfSecrets(item, faults, [...path, isList ? Number(key) : key]);
}

function warnOfText(text: string, path: FaultPath, faults: FaultList): void {
  if (text === "" || FILLED_LATER.test(text)) return;
  const isVariable = VARIABLE.test(text);
  const isNamed = isSecretField(path) && !text.includes("{{");
  const isProvider = isSecretPlace(path);
  if (isVariable && (isProvider || !isNamed)) return;
  if (isVariable) return warn(path, faults, "a secret is filled in when the file is read, and stays in the task");
  if (isNamed || hasShape(text)) warn(path, faults, "a secret stands in the file, and in every task that it starts");
}

function warn(path: FaultPath, faults: FaultList, message: string): void {
  const suggestion = isSecretPlace(path)
    ? "write ${NAME}: it is read from the environment when it is used"
    : "name it under secrets of the step, and write {{ secrets.NAME }}";
  faults.warn({ code: "secret", path, message, suggestion });
}

/** A field of a telling name: not one of an output, which describes. */
function isSecretField(path: FaultPath): boolean {
  const name = path.at(-1);
  return typeof name === "string" && !HARMLESS.has(name) && !path.includes("output") && isSecretName(name);
}

function hasShape(text: string): boolean {
  return SECRET_PATTERNS.some(
    ({ hints, expression, hasContext }) =>
      hasContext !== true && hints.some((hint) => text.includes(hint)) && text.search(expression) >= 0,
  );
}
