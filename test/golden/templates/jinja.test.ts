/**
 * What Jinja2 itself prints: 400 templates and their values, computed by Jinja2 3.1.6 under Python 3.11 with the
 * environment of Conductor (StrictUndefined, no autoescape, trailing newline kept, keys of maps before methods, `json` and
 * a `default` that replaces none), and what is printed otherwise here, each with its reason.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import { findTemplateFault } from "../../../src/definition/templates/template-check.js";
import { renderText } from "../../../src/definition/templates/templates.js";

interface Table {
  readonly scope: JsonObject;
  readonly rows: readonly (readonly [string, string])[];
}

const { scope, rows } = JSON.parse(readFileSync(new URL("jinja.json", import.meta.url), "utf8")) as Table;

const TUPLE = "there are no tuples: they are lists";
const FLOAT = "a whole float that a filter of ours is given is an integer";
const NAME = "Python's own objects are not there";
const REFUSED = "refused";

/** Template → what is printed here, or the message, and why. */
const OTHERWISE: Readonly<Record<string, readonly [string | RegExp, string]>> = {
  "{{ (1, 2) }}": ["[1, 2]", TUPLE],
  "{{ (1,) }}": ["[1]", TUPLE],
  "{{ ('a', 'b') }}": ["['a', 'b']", TUPLE],
  "{{ 1, 2 }}": [/syntax error/, TUPLE],
  "{% set x, y = 1, 2 %}{{ x }}{{ y }}": [/syntax error/, TUPLE],
  "{{ [(1, 2), (3, 4)] }}": ["[[1, 2], [3, 4]]", TUPLE],
  "{{ map.items() | list }}": ["[['b', 1], ['a', [True, None]]]", TUPLE],
  "{{ map | items | list }}": ["[['b', 1], ['a', [True, None]]]", TUPLE],
  "{{ map | dictsort }}": ["[['a', [True, None]], ['b', 1]]", TUPLE],
  "{{ {'b': 2, 'a': 1} | dictsort }}": ["[['a', 1], ['b', 2]]", TUPLE],
  "{{ {'b': 1, 'a': 2} | dictsort(by='value') }}": ["[['b', 1], ['a', 2]]", TUPLE],
  "{{ {'b': 1, 'a': 2} | dictsort(false, 'value', true) }}": ["[['a', 2], ['b', 1]]", TUPLE],
  "{{ 'a-b'.partition('-') }}": ["['a', '-', 'b']", TUPLE],
  "{{ 2.0 | round }}": ["2", FLOAT],
  "{{ '%s' | format(2.0) }}": ["2", FLOAT],
  "{{ '{}'.format(2.0) }}": ["2", FLOAT],
  "{{ {1: 'a', 2: 'b'} }}": ["{'1': 'a', '2': 'b'}", "keys of maps are texts, as in JSON"],
  "{{ range(3) }}": ["[0, 1, 2]", "a range is a list"],
  "{{ 2 ** -1 }}": [/unable to calculate/, "a negative power of a whole number"],
  "{{ 1 < 2 < 3 }}": [/a comparison of a comparison: write `a < b and b < c`/, REFUSED],
  "{{ 1 < 3 > 2 }}": [/a comparison of a comparison/, REFUSED],
  "{{ s * 3 }}": [/s is multiplied, but it is no number/, "only a text that stands in the template is repeated"],
  "{{ list | random is string }}": [/a resumed run must see the same text/, REFUSED],
  "{{ nums.__class__ is defined }}": ["False", NAME],
  "{{ lipsum is defined }}": ["False", NAME],
  "{{ cycler is defined }}": ["False", NAME],
  "{{ self is defined }}": ["False", NAME],
  "{% set c = cycler('odd', 'even') %}{% for x in list %}{{ c.next() }} {% endfor %}": [
    /there is no function cycler/,
    NAME,
  ],
  "{% autoescape true %}{{ html }}{% endautoescape %}": [
    "&lt;b&gt;x &amp; y&lt;&#x2f;b&gt;",
    "a slash is escaped in such a block",
  ],
};

function renderChecked(template: string): string {
  const fault = findTemplateFault(template);
  return fault === undefined ? renderText(template, scope) : `fault: ${fault.message}`;
}

describe("a template of Jinja2", () => {
  it.each(rows.filter(([template]) => !Object.hasOwn(OTHERWISE, template)))("prints the same: %j", (template, value) => {
    expect(renderChecked(template)).toBe(value);
  });

  it.each(Object.entries(OTHERWISE))("prints otherwise, for a reason: %j", (template, [expected]) => {
    const known = rows.find(([text]) => text === template);
    expect(known).toBeDefined();
    const shown = ((): string => {
      try {
        return renderChecked(template);
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(shown).not.toBe(known?.[1]);
    if (typeof expected === "string") expect(shown).toBe(expected);
    else expect(shown).toMatch(expected);
  });
});
