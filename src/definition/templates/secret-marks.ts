/**
 * Keeps references to secrets apart from data while templates are rendered.
 *
 * A template sees each of its step's secrets as a mark with a nonce that no data can know. What was rendered is settled
 * at once: a mark becomes the readable placeholder `{{ secrets.NAME }}`, and its place is listed beside the value. Only
 * a listed place is ever filled in, so a text that merely looks like a placeholder stays text, wherever it came from.
 * The nonce is in nothing that is kept: equal templates and equal data give equal work (D3).
 */
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { RandomSource } from "../../base/random.js";

/** Where a placeholder stands that a template made. */
export interface SecretPlace {
  /** Keys and indexes from the root of the work to the text. */
  readonly path: readonly (string | number)[];
  /** Units: UTF-16 characters from the start of the text. */
  readonly at: number;
  readonly name: string;
}

const NONCE_BYTES = 16;
const PLACEHOLDER = /\{\{ secrets\.([A-Za-z_][A-Za-z0-9_]{0,255}) \}\}/g;

/** What stands for a secret in what people read and in what is recorded. */
export function placeholderOf(name: string): string {
  return `{{ secrets.${name} }}`;
}

export class SecretMarks {
  readonly #nonce: string;
  readonly #names: readonly string[];
  readonly #mark: RegExp;

  constructor(names: readonly string[], random: RandomSource) {
    this.#names = names;
    this.#nonce = names.length === 0 ? "" : Buffer.from(random.bytes(NONCE_BYTES)).toString("hex");
    this.#mark = new RegExp(`\\{\\{ secrets\\.([A-Za-z_][A-Za-z0-9_]{0,255}) ${this.#nonce} \\}\\}`, "g");
  }

  /** The value of the root name `secrets`. */
  get values(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#names.map((name) => [name, `{{ secrets.${name} ${this.#nonce} }}`]));
  }

  /**
   * The value with placeholders in place of the marks, and where they stand.
   *
   * Errors: TEMPLATE_FAILED where a filter has changed a mark, or one stands in a key.
   */
  settle(value: JsonObject): { readonly value: JsonObject; readonly places: readonly SecretPlace[] } {
    if (this.#names.length === 0) return { value, places: [] };
    const places: SecretPlace[] = [];
    return { value: this.#settle(value, [], places) as JsonObject, places };
  }

  #settle(value: JsonValue, path: SecretPlace["path"], places: SecretPlace[]): JsonValue {
    if (typeof value === "string") return this.#settleText(value, path, places);
    if (Array.isArray(value))
      return value.map((item: JsonValue, index) => this.#settle(item, [...path, index], places));
    if (!isJsonObject(value)) return value;
    const entries = Object.entries(value).map(([key, item]): [string, JsonValue | undefined] => {
      this.#refuseRest(key);
      return [key, item === undefined ? item : this.#settle(item, [...path, key], places)];
    });
    return Object.fromEntries(entries);
  }

  #settleText(text: string, path: SecretPlace["path"], places: SecretPlace[]): string {
    if (!text.toLowerCase().includes(this.#nonce)) return text;
    let settled = "";
    let from = 0;
    for (const found of text.matchAll(this.#mark)) {
      const [mark, name = ""] = found;
      settled += text.slice(from, found.index);
      places.push({ path, at: settled.length, name });
      settled += placeholderOf(name);
      from = found.index + mark.length;
    }
    settled += text.slice(from);
    this.#refuseRest(settled);
    return settled;
  }

  #refuseRest(text: string): void {
    if (!text.toLowerCase().includes(this.#nonce)) return;
    const message = "a template changes a secret: {{ secrets.NAME }} can stand in a text, but no filter can change it";
    throw new SplashdownError("TEMPLATE_FAILED", `${message}, and no key can hold it`);
  }
}

/** Placeholders in a text of the file that is no template otherwise become the values of `secrets`. */
export function markSecrets(text: string, secrets: JsonValue | undefined): string {
  if (!isJsonObject(secrets)) return text;
  return text.replace(PLACEHOLDER, (whole, name: string) => {
    const mark = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
    return typeof mark === "string" ? mark : whole;
  });
}

/**
 * The work with a value in each listed place.
 *
 * Shape: the rest is shared with what came in. Places whose text is not the placeholder of their name stay as they are.
 */
export function fillPlaces(
  work: JsonObject,
  places: readonly SecretPlace[],
  secrets: ReadonlyMap<string, string>,
): JsonObject {
  const byPath = new Map<string, SecretPlace[]>();
  for (const place of places) {
    const key = JSON.stringify(place.path);
    byPath.set(key, [...(byPath.get(key) ?? []), place]);
  }
  let filled: JsonValue = work;
  for (const [key, found] of byPath) {
    const path = JSON.parse(key) as (string | number)[];
    filled = replaceAt(filled, path, (text) => fillText(text, found, secrets));
  }
  return filled as JsonObject;
}

/** From the last place to the first, so that the earlier ones stay where they are. */
function fillText(text: string, places: readonly SecretPlace[], secrets: ReadonlyMap<string, string>): string {
  let filled = text;
  for (const { at, name } of [...places].sort((left, right) => right.at - left.at)) {
    const placeholder = placeholderOf(name);
    const value = secrets.get(name);
    if (value === undefined || !filled.startsWith(placeholder, at)) continue;
    filled = `${filled.slice(0, at)}${value}${filled.slice(at + placeholder.length)}`;
  }
  return filled;
}

function replaceAt(
  value: JsonValue | undefined,
  path: readonly (string | number)[],
  change: (text: string) => string,
): JsonValue {
  const [first, ...rest] = path;
  if (first === undefined) return typeof value === "string" ? change(value) : (value ?? null);
  if (Array.isArray(value))
    return value.map((item: JsonValue, index) => (index === first ? replaceAt(item, rest, change) : item));
  if (!isJsonObject(value) || !Object.hasOwn(value, String(first))) return value ?? null;
  return Object.fromEntries<JsonValue | undefined>(
    Object.entries(value).map(([key, item]) => [key, key === first ? replaceAt(item, rest, change) : item]),
  );
}

/** Places as they were recorded with the work. */
export function parsePlaces(value: JsonValue | undefined): readonly SecretPlace[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly JsonValue[]).filter(isPlace) as unknown as readonly SecretPlace[];
}

function isPlace(value: JsonValue): boolean {
  return (
    isJsonObject(value) &&
    Array.isArray(value["path"]) &&
    typeof value["at"] === "number" &&
    typeof value["name"] === "string"
  );
}
