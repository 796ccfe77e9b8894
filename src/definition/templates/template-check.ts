/** Faults of templates and conditions that are found without running them. */
import { findNearest } from "../faults/nearest.js";
import { compiledTemplate } from "./template-cache.js";
import { findSyntaxFault, isKnownWord } from "./template-engine.js";
import { placeFault, type TemplateFault, toFault } from "./template-fault.js";
import { listWords, scanExpression, scanTemplate, type Segment } from "./template-lexer.js";
import { findIdentityTests } from "./template-rewrites.js";
import { WORDS_OF_JINJA } from "./keywords.js";
import type { Condition, Template } from "../model/values.js";

/** The syntax fault of a template, found without running it. */
export function findTemplateFault(template: Template): TemplateFault | undefined {
  try {
    const source = sourceOf(template);
    if (source === undefined) return undefined;
    const fault = findSyntaxFault(source);
    if (fault !== undefined) return findFaultyTag(template, fault.message) ?? toFault(template, fault);
    return findUnknownWord(template);
  } catch (error) {
    const fault = toFault(template, error);
    if (fault === undefined) throw error;
    return fault;
  }
}

/** What minijinja is given of a template; `undefined` when it is not asked. */
function sourceOf(template: Template): string | undefined {
  const compiled = compiledTemplate(template);
  if (compiled.form === "expression") return `{{ ${compiled.expression} }}`;
  return compiled.form === "program" ? compiled.source : undefined;
}

/** The first tag that is wrong by itself: minijinja tells the line of what was made of the template, and no more. */
function findFaultyTag(template: Template, message: string): TemplateFault | undefined {
  const segments = scanTemplate(template);
  for (const { kind, start, end } of segments) {
    if (kind !== "output") continue;
    const tag = template.slice(start, end);
    const source = sourceOf(tag);
    const fault = source === undefined ? undefined : findSyntaxFault(source);
    if (fault !== undefined) return placeFault(template, (findSyntaxFault(tag) ?? fault).message, start);
  }
  return findUnknownStatement(template, segments, message);
}

/** The first `{% word %}` of a word that there is not. */
function findUnknownStatement(
  template: Template,
  segments: readonly Segment[],
  message: string,
): TemplateFault | undefined {
  const word = /unknown statement (\w+)/.exec(message)?.[1];
  const block = segments.find((segment) => segment.kind === "block" && segment.tokens[0]?.text === word);
  return block === undefined ? undefined : placeFault(template, message, block.start);
}

/** A filter or a test that there is not: minijinja itself finds out only when it runs. */
function findUnknownWord(template: string): TemplateFault | undefined {
  for (const { kind, token } of listWords(scanTemplate(template))) {
    if (isKnownWord(kind, token.text)) continue;
    const nearest = findNearest(token.text, WORDS_OF_JINJA[kind]);
    return {
      ...placeFault(template, `there is no ${kind} ${token.text}`, token.start),
      ...(nearest === undefined ? {} : { suggestion: `did you mean ${nearest}?` }),
    };
  }
  return undefined;
}

/** True when the text is a condition of the dialect without braces. */
export function isBareCondition(text: Condition): boolean {
  return !(text.includes("{{") && text.includes("}}"));
}

const BARE_OPEN = "{{ ";

/** `x is None`, as Python writes it, with the test's name as the template language has it: each place stays where it is. */
function lowerIdentities(text: Condition): string {
  try {
    return findIdentityTests(scanExpression(text)).reduce(
      (all, { at, until = at, text: test }) => all.slice(0, at) + test + all.slice(until),
      text,
    );
  } catch {
    // A character that no expression has: told by who reads the whole.
    return text;
  }
}

/** The syntax fault of a condition, found without running it. */
export function findConditionFault(text: Condition): TemplateFault | undefined {
  if (!isBareCondition(text)) return findTemplateFault(text);
  if (text.trim() === "") return { message: "the condition is empty", line: 1, column: 1, offset: 0 };
  const fault = findTemplateFault(`${BARE_OPEN}${lowerIdentities(text)} }}`);
  if (fault === undefined) return undefined;
  return { ...fault, ...placeFault(text, fault.message, Math.max(fault.offset - BARE_OPEN.length, 0)) };
}
