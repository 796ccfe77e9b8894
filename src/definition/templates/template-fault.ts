/** Where in its text a template is wrong: faults of the text itself, and of a rendering. */
import { SplashdownError } from "../../base/errors.js";
import { TemplateRunFault } from "./template-engine.js";
import { TemplateSyntaxFault } from "./template-lexer.js";

/** A fault found without running: the message and the place inside the template, counted from 1. */
export interface TemplateFault {
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly offset: number;
  /** What may have been meant. */
  readonly suggestion?: string;
}

/** The fault behind an error; `undefined` for our own mistakes. */
export function toFault(template: string, error: unknown): TemplateFault | undefined {
  if (error instanceof TemplateSyntaxFault) return placeFault(template, error.message, error.offset);
  if (error instanceof TemplateRunFault) return placeFault(template, error.message, offsetOf(template, error));
  return error instanceof SplashdownError ? placeFault(template, error.message, 0) : undefined;
}

/** A fault at an offset of the template. */
export function placeFault(template: string, message: string, offset: number): TemplateFault {
  const before = template.slice(0, offset);
  return { message, line: before.split("\n").length, column: offset - before.lastIndexOf("\n"), offset };
}

/** The chain that is missing, else the first tag in the line that minijinja names. */
function offsetOf(template: string, { offset, line = 1 }: TemplateRunFault): number {
  if (offset !== undefined) return offset;
  let start = 0;
  for (let count = 1; count < line; count += 1) start = template.indexOf("\n", start) + 1;
  const tag = template.slice(start).search(/\{[{%]/);
  return tag < 0 ? start : start + tag;
}

/** A name, or what is left of a tag in its line. */
export function markedWidth(template: string, offset: number): number {
  const [rest = ""] = template.slice(offset).split("\n");
  const name = /^[\w.]+/.exec(rest)?.[0] ?? rest.slice(0, rest.search(/[%}]\}/) + 2);
  return Math.max(name.length, 1);
}
