/**
 * Templates and conditions: Jinja with strict undefined, types kept for whole expressions, Python's printing.
 *
 * Owns: the meaning of a template for everyone else. Synchronous and pure, so that `decide` may call it; minijinja is
 * loaded (12 ms, once) by the first template that needs more than text and names, or earlier by `initTemplates`.
 *
 * D3: equal template and equal scope give equal values: there is no clock, no environment and no randomness in it, but
 *     what a condition of a route is handed for `rand`.
 * Measured on Node 20 after the first time: text with names 1 µs, a filter or a loop 5–15 µs.
 */
import type { ErrorCode } from "../../base/error-table.js";
import { SplashdownError } from "../../base/errors.js";
import { formatForTemplate } from "../../base/plain-value.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import { formatFaults, type TextPart } from "../faults/fault.js";
import { formatPython } from "./python-text.js";
import { followPath, variableOf } from "./template-compiler.js";
import { compiledCondition, compiledTemplate } from "./template-cache.js";
import { initTemplateEngine, runExpression, runTemplate, TemplateRunFault } from "./template-engine.js";
import { markedWidth, type TemplateFault, toFault } from "./template-fault.js";
import { FUNCTIONS_PROVIDED } from "./keywords.js";
import type { WrittenPlace } from "./template-places.js";
import type { Chain } from "./template-references.js";
import { REPEAT_MAX } from "./repetition.js";
import type { Condition, Template, TemplateValue } from "../model/values.js";

/** What templates see, by root name: an object, or a look-up that is asked only for names the template uses. */
export type TemplateScope = JsonObject | TemplateLookup;

export interface TemplateLookup {
  (name: string): JsonValue | undefined;
  /** Where a part of a template of the node that it looks for is written; absent where nobody knows. */
  readonly locate?: (part: TextPart) => WrittenPlace | undefined;
}

/** Where the template stands in its definition, for the message: `phases[0].specialists[1].prompt`. */
export interface TemplatePlace {
  readonly place?: string;
}

export interface ConditionOptions extends TemplatePlace {
  /** Units: 0 to below 1. For `rand()` and `randint(n)`, which are refused without it. */
  readonly random?: () => number;
}

/** A name from outside that a template uses, as `root` and the fixed parts after it. */
export interface TemplateReference {
  readonly root: string;
  readonly path: readonly string[];
  /** It may be missing: it stands under `default` or is tested with `is defined` in the same template. */
  readonly guarded: boolean;
  /** It is evaluated whenever the template is: it stands in no branch. */
  readonly certain: boolean;
  /** Where it stands in its text. Units: UTF-16 units. */
  readonly offset: number;
  readonly width: number;
}

/** Loads minijinja now instead of at the first template that needs it. */
export function initTemplates(): Promise<void> {
  return Promise.resolve().then(initTemplateEngine);
}

/**
 * Renders every text inside a value; a text that is one whole `{{ expression }}` becomes the expression's value.
 *
 * Errors: TEMPLATE_FAILED with the template, its place and line.
 */
export function renderValue(value: TemplateValue, scope: TemplateScope, options: TemplatePlace = {}): JsonValue {
  if (typeof value === "string") return renderTyped(value, scope, options);
  if (Array.isArray(value)) {
    return value.map((item: JsonValue, index) =>
      renderValue(item, scope, { place: `${options.place ?? ""}[${index}]` }),
    );
  }
  if (!isJsonObject(value)) return value;
  const result: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined)
      result[key] = renderValue(item, scope, { place: options.place === undefined ? key : `${options.place}.${key}` });
  }
  return result;
}

/** Renders a template to text, whatever its form. Errors: TEMPLATE_FAILED. */
export function renderText(template: Template, scope: TemplateScope, options: TemplatePlace = {}): string {
  return guarded(template, { ...options, scope }, () => {
    const compiled = compiledTemplate(template);
    if (compiled.form === "chain")
      return checkSize(
        template.slice(0, template.indexOf("{{")) +
          textOf(requireChain(compiled.chains[0] as Chain, scope)) +
          template.slice(template.lastIndexOf("}}") + 2),
      );
    if (compiled.form === "text") return template;
    if (compiled.form === "pieces")
      return checkSize(
        compiled.pieces
          .map((piece) => (typeof piece === "string" ? piece : textOf(requireChain(piece, scope))))
          .join(""),
      );
    return checkSize(runWith(compiled, scope, (context) => runTemplate(compiled.source, context)));
  });
}

function renderTyped(template: Template, scope: TemplateScope, options: TemplatePlace): JsonValue {
  return guarded(template, { ...options, scope }, () => {
    const compiled = compiledTemplate(template);
    if (compiled.form === "chain") return requireChain(compiled.chains[0] as Chain, scope);
    if (compiled.form !== "expression") return renderText(template, scope, options);
    const value = runWith(compiled, scope, (context) => runExpression(compiled.expression, context));
    // An inline if without else has no value; as in the middle of a text it is empty then. What is not defined fails here, too.
    if (value === undefined)
      return checkSize(runWith(compiled, scope, (context) => runTemplate(compiled.source, context)));
    return typeof value === "string" ? checkSize(value) : value;
  });
}

/**
 * Decides a condition of either dialect: with braces the rendered text counts, else a Python-like expression.
 *
 * Shape: without braces a name may also be a key of `output`, or `step_key` for `step.key`; `output.key` works too.
 * Errors: TEMPLATE_FAILED.
 * Source: CONDUCTOR-YAML 1.5.
 */
export function evaluateCondition(text: Condition, scope: TemplateScope, options: ConditionOptions = {}): boolean {
  return guarded(text, { ...options, scope }, () => {
    const compiled = compiledCondition(text);
    if (compiled.form === "rendered")
      return !["false", "0", "no", ""].includes(renderText(text, scope, options).trim().toLowerCase());
    const bare: Named = { chains: compiled.chains, rebound: new Set(), isBare: true };
    const value = runWith(bare, scope, (context) => runExpression(compiled.expression, context, options.random));
    if (value === undefined) throw new TemplateRunFault("the expression has no value");
    return isTruthy(value);
  });
}

function isTruthy(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

function lookUp(scope: TemplateScope, name: string): JsonValue | undefined {
  if (typeof scope === "function") return scope(name);
  return Object.hasOwn(scope, name) ? scope[name] : undefined;
}

function resolveBare(chain: Chain, scope: TemplateScope): JsonValue | undefined {
  const fromOutput = followPath(lookUp(scope, "output"), [chain.root, ...chain.path]);
  if (fromOutput !== undefined) return fromOutput;
  const own = lookUp(scope, chain.root);
  if (own !== undefined) return followPath(own, chain.path);
  for (let cut = chain.root.indexOf("_"); cut > 0; cut = chain.root.indexOf("_", cut + 1)) {
    const found = followPath(lookUp(scope, chain.root.slice(0, cut)), [chain.root.slice(cut + 1), ...chain.path]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function resolve(chain: Chain, scope: TemplateScope): JsonValue | undefined {
  return followPath(lookUp(scope, chain.root), chain.path);
}

function requireChain(chain: Chain, scope: TemplateScope): JsonValue {
  const value = resolve(chain, scope);
  if (value === undefined) throw new TemplateRunFault(`${nameOf(chain)} is not defined`, { offset: chain.start });
  return value;
}

function textOf(value: JsonValue): string {
  return formatPython(formatForTemplate(value));
}

function nameOf(chain: Chain): string {
  return [chain.root, ...chain.path].join(".");
}

interface Named {
  readonly chains: readonly Chain[];
  readonly rebound: ReadonlySet<string>;
  /** Names may be keys of the output. */
  readonly isBare?: boolean;
}

function runWith<T>(compiled: Named, scope: TemplateScope, call: (context: Record<string, unknown>) => T): T {
  const context: Record<string, unknown> = {};
  const missing: Chain[] = [];
  for (const chain of compiled.chains) {
    const value = valueOf(chain, scope, compiled.isBare === true);
    if (value !== undefined) context[variableOf(chain)] = value;
    else if (!chain.guarded) missing.push(chain);
  }
  // minijinja compares an undefined value without complaint; Jinja's strict mode does not.
  const certain = missing.find((chain) => chain.certain && !compiled.rebound.has(chain.root));
  if (certain !== undefined) throw new TemplateRunFault(`${nameOf(certain)} is not defined`, { offset: certain.start });
  for (const name of compiled.rebound) {
    const value = lookUp(scope, name);
    if (value !== undefined) context[name] = formatForTemplate(value);
  }
  try {
    return call(context);
  } catch (error) {
    throw nameMissing(error, missing);
  }
}

/** Of what was used and is not defined, the name and the place; any other error as it is. */
function nameMissing(error: unknown, missing: readonly Chain[]): unknown {
  if (!(error instanceof TemplateRunFault) || !error.isUndefined) return error;
  const { variable } = error;
  const used = missing.filter((chain) => variable === undefined || variableOf(chain) === variable);
  const [first] = used;
  if (first === undefined) return variable === undefined ? error : new TemplateRunFault(`${variable} is not defined`);
  const names = [...new Set(used.map(nameOf))].join(" or ");
  return new TemplateRunFault(`${names} is not defined`, { offset: first.start });
}

/** What a chain is handed over as; `undefined` when it is not defined. */
function valueOf(chain: Chain, scope: TemplateScope, isBare: boolean): JsonValue | undefined {
  const value = isBare ? resolveBare(chain, scope) : resolve(chain, scope);
  if (value !== undefined) return handOver(chain, value);
  return isProvidedFunction(chain) ? true : undefined;
}

/** `range is defined`, where no step has that name. */
function isProvidedFunction({ root, path, guarded: isGuarded }: Chain): boolean {
  return isGuarded && path.length === 0 && FUNCTIONS_PROVIDED.has(root);
}

function handOver(chain: Chain, stored: JsonValue): JsonValue {
  const value = formatForTemplate(stored);
  if (chain.isIterated === true && isJsonObject(value)) return Object.keys(value);
  return checkFactor(chain, value);
}

/** What is multiplied must be a number, so that nothing grows without a limit. */
function checkFactor(chain: Chain, value: JsonValue): JsonValue {
  if (chain.factor === undefined) return value;
  if (typeof value !== "number") throw new TemplateRunFault(`${nameOf(chain)} is multiplied, but it is no number`);
  if (chain.factor === "times" && value > REPEAT_MAX)
    throw new TemplateRunFault(`${nameOf(chain)} repeats more than ${REPEAT_MAX} times`);
  return value;
}

function checkSize(text: string): string {
  if (text.length > LIMITS.templateOutputBytesMax)
    throw new TemplateRunFault(`the text is longer than ${LIMITS.templateOutputBytesMax} bytes`);
  return text;
}

interface Rendering extends TemplatePlace {
  readonly scope?: TemplateScope;
}

/** Runs a rendering and turns its faults into one coded error. */
function guarded<T>(template: string, rendering: Rendering, render: () => T): T {
  try {
    return render();
  } catch (error) {
    if (error instanceof SplashdownError && error.code === "TEMPLATE_FAILED") throw error;
    const fault = toFault(template, error);
    if (fault === undefined) throw error;
    throw createFailure(template, rendering, { fault, cause: error });
  }
}

/** With the line of the file where it is known, else with the line of the template. */
function createFailure(
  template: string,
  { place, scope }: Rendering,
  { fault, cause }: { readonly fault: TemplateFault; readonly cause: unknown },
): SplashdownError {
  const { message, line, column, offset } = fault;
  const part: TextPart = { text: template, offset, width: markedWidth(template, offset) };
  const written = typeof scope === "function" ? scope.locate?.(part) : undefined;
  const text =
    written === undefined
      ? `template${place === undefined ? "" : ` at ${place}`}, line ${line}: ${message}`
      : formatFaults([{ ...written, message }]);
  const places = {
    ...(place === undefined ? {} : { place }),
    ...(written === undefined ? {} : { written: { ...written } }),
  };
  return new SplashdownError("TEMPLATE_FAILED", text, {
    details: { template: template.slice(0, 500), line, column, ...places },
    cause,
  });
}

/**
 * A failure over what a template gave, which the template itself does not see.
 *
 * Shape: with the line of the file where it is known, else the message alone.
 */
export function createValueFailure(
  template: string,
  scope: TemplateScope,
  { message, code = "TEMPLATE_FAILED" }: { readonly message: string; readonly code?: ErrorCode },
): SplashdownError {
  const [first = ""] = template.split("\n");
  const part: TextPart = { text: template, offset: 0, width: Math.max(first.length, 1) };
  const written = typeof scope === "function" ? scope.locate?.(part) : undefined;
  return new SplashdownError(code, written === undefined ? message : formatFaults([{ ...written, message }]), {
    details: { template: template.slice(0, 500), ...(written === undefined ? {} : { written: { ...written } }) },
  });
}

/** The names a value's templates use. Errors: TEMPLATE_FAILED on faulty syntax. */
export function listReferences(value: TemplateValue): readonly TemplateReference[] {
  if (typeof value === "string") return guarded(value, {}, () => referencesOf(compiledTemplate(value).chains));
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((item: JsonValue | undefined) =>
    item === undefined ? [] : listReferences(item),
  );
}

/** The names a condition uses. Errors: TEMPLATE_FAILED on faulty syntax. */
export function listConditionReferences(text: Condition): readonly TemplateReference[] {
  return guarded(text, {}, () => {
    const compiled = compiledCondition(text);
    return referencesOf(compiled.form === "rendered" ? compiled.template.chains : compiled.chains);
  });
}

function referencesOf(chains: readonly Chain[]): readonly TemplateReference[] {
  const tested = new Set(chains.filter((chain) => chain.guarded).map((chain) => chain.root));
  return chains.map(({ root, path, guarded: own, certain, start, end }) => ({
    root,
    path,
    certain,
    guarded: own || tested.has(root),
    offset: start,
    width: end - start,
  }));
}
