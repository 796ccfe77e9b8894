/**
 * Names that are not defined, wherever in an expression they stand: an error where something is done with them.
 *
 * The expected values are Jinja's own: jinja2 3.1.6 with StrictUndefined over the same context. `undefined` stands for its
 * UndefinedError. Where a whole branch of a map is missing, `default` and `is defined` are more lenient here.
 */
import { describe, expect, it } from "vitest";
import { evaluateCondition, renderText } from "../../../src/definition/templates/templates.js";

const SCOPE = { o: { t: true, f: false, n: 2, l: [1, 2], rows: [{ a: 1 }, { b: 2 }] } };

function render(template: string): string | undefined {
  try {
    return renderText(template, SCOPE);
  } catch (error) {
    expect((error as Error).message).toMatch(/(?:o\.m|q|x\.[ab]) is not defined/);
    return undefined;
  }
}

const ROWS: readonly (readonly [template: string, expected: string | undefined])[] = [
  ["{{ o.t and o.m < 3 }}", undefined],
  ["{{ o.t and o.m == 1 }}", undefined],
  ["{{ o.t and o.m != 1 }}", undefined],
  ["{{ o.t and 3 > o.m }}", undefined],
  ["{{ o.t and not o.m }}", undefined],
  ["{{ o.t and o.m in [1] }}", undefined],
  ["{{ o.t and 1 in o.m }}", undefined],
  ["{{ o.t and 1 not in o.m }}", undefined],
  ["{{ o.t and o.m + 1 }}", undefined],
  ["{{ o.t and o.m | length }}", undefined],
  ["{{ o.t and o.m ~ 'x' }}", undefined],
  ["{{ o.t and (o.m or 1) == 1 }}", undefined],
  ["{{ o.t and (1 if o.m else 2) }}", undefined],
  ["{{ o.t and o.m }}", undefined],
  ["{{ o.f and o.m < 3 }}", "False"],
  ["{{ o.f or o.m < 3 }}", undefined],
  ["{{ o.f or not o.m }}", undefined],
  ["{{ o.t or o.m < 3 }}", "True"],
  ["{{ o.t or not o.m }}", "True"],
  ["{{ o.t and q == q }}", undefined],
  ["{{ o.f and q == q }}", "False"],
  ["{{ o.t and o.m is defined }}", "False"],
  ["{{ o.t and (o.m) is defined }}", "False"],
  ["{{ o.t and o.m is none }}", "False"],
  ["{{ o.t and o.m is string }}", "False"],
  ["{{ o.t and o.m | default(1) > 0 }}", "True"],
  ["{{ o.t and (o.m) | default(1) > 0 }}", "True"],
  ["{{ (o.t and o.m) | default('d') }}", "d"],
  ["{{ (o.f or o.m) | default('d') }}", "d"],
  ["{{ (o.m if o.t else 1) | default('d') }}", "d"],
  ["{{ o.m is defined and o.m > 1 }}", "False"],
  ["{% if o.t %}{% if o.m < 1 %}y{% else %}n{% endif %}{% endif %}", undefined],
  ["{% if o.t %}{% if not o.m %}y{% else %}n{% endif %}{% endif %}", undefined],
  ["{% if o.t and o.m %}y{% else %}n{% endif %}", undefined],
  ["{% if o.f %}{% if o.m < 1 %}y{% else %}n{% endif %}{% endif %}", ""],
  ["{% if o.f %}{% elif o.m == 1 %}z{% else %}w{% endif %}", undefined],
  ["{% if o.t %}{% set x = o.m %}{{ x | default('e') }}{% endif %}", "e"],
  ["{% if o.t %}{% for i in o.m %}z{% endfor %}{% endif %}", undefined],
  ["{% for x in o.rows %}{{ x.a == 1 }},{% endfor %}", undefined],
  ["{% for x in o.rows %}{{ not x.a }},{% endfor %}", undefined],
  ["{% for x in o.rows %}{{ x.a is defined and x.a > 0 }},{% endfor %}", "True,False,"],
  ["{% for x in o.rows %}{{ x.a | default(5) > 1 }},{% endfor %}", "False,True,"],
  ["{% for x in o.rows %}{{ x.a if x.a is defined else x.b }},{% endfor %}", "1,2,"],
  ["{% for x in o.rows %}{{ loop.index > 1 and x.b == 2 }},{% endfor %}", "False,True,"],
  ["{% for x in o.rows if x.a == 1 %}{{ x.a }},{% endfor %}", undefined],
];

describe("a name that is not defined, as Jinja has it", () => {
  it.each(ROWS)("%s", (template, expected) => {
    expect(render(template)).toBe(expected);
  });
});

describe("an undefined name behind another operand", () => {
  const judge = (condition: string) => () => evaluateCondition(condition, { output: { even: true }, ...SCOPE });

  it("[source 2] fails a condition with braces instead of choosing the wrong way", () => {
    expect(judge("{{ output.even and output.m < 3 }}")).toThrow("output.m is not defined");
  });

  it("[source 2 kin] fails a condition without braces", () => {
    expect(judge("output.even and m < 3")).toThrow("m is not defined");
    expect(judge("even and not m")).toThrow("m is not defined");
    expect(judge("even and m is defined and m < 3")()).toBe(false);
  });

  it("[source 2 kin] fails for every comparison and for not", () => {
    for (const part of ["not output.m", "output.m != 1", "output.m == 1", "output.m > 1", "output.m in ['a']"])
      expect(judge(`{{ output.even and ${part} }}`), part).toThrow("output.m is not defined");
  });

  it("[source 2 kin] fails in the block of a template, with its place", () => {
    const template = "first\n{% if o.t %}\n  {% if o.m == 1 %}a{% endif %}\n{% endif %}";
    expect(() => renderText(template, SCOPE)).toThrow("line 3: o.m is not defined");
  });
});
