/** Compiled templates and conditions, by their text. */
import {
  type CompiledCondition,
  type CompiledTemplate,
  compileCondition,
  compileTemplate,
} from "./template-compiler.js";

const CACHE_MAX = 5_000;
const templates = new Map<string, CompiledTemplate>();
const conditions = new Map<string, CompiledCondition>();

/** Errors: TemplateSyntaxFault. */
export function compiledTemplate(text: string): CompiledTemplate {
  return cached(templates, text, compileTemplate);
}

/** Errors: TemplateSyntaxFault. */
export function compiledCondition(text: string): CompiledCondition {
  return cached(conditions, text, compileCondition);
}

function cached<T>(cache: Map<string, T>, text: string, compile: (text: string) => T): T {
  const known = cache.get(text);
  if (known !== undefined) return known;
  if (cache.size >= CACHE_MAX) cache.clear();
  const compiled = compile(text);
  cache.set(text, compiled);
  return compiled;
}
