import { describe, expect, it } from "vitest";
import { isErrorCode } from "../../../src/base/errors.js";
import type { JsonValue } from "../../../src/base/json.js";
import { findConditionFault, findTemplateFault } from "../../../src/definition/templates/template-check.js";
import {
  evaluateCondition,
  initTemplates,
  listConditionReferences,
  listReferences,
  renderText,
  renderValue,
} from "../../../src/definition/templates/templates.js";

const scope = {
  research: { output: { score: 1, items: [1, 2.5, null, true, "it's"], map: { b: 1, a: { d: 1, c: 2 } } } },
  workflow: { input: { count: 3, branch: "" } },
  output: { score: 5, approved: true, list: [], items: ["x"] },
};

function messageOfFailure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isErrorCode(error, "TEMPLATE_FAILED")) return (error as Error).message;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("renderValue", () => {
  const cases: readonly (readonly [string, string, JsonValue])[] = [
    ["leaves plain text alone", "plain { text }", "plain { text }"],
    ["keeps the type of a whole chain", "{{ research.output.score }}", 1],
    ["keeps key order of a whole chain", "{{ research.output.map }}", scope.research.output.map],
    ["keeps the type of a whole expression", "{{ research.output.items | length + 1 }}", 6],
    ["keeps a truth value", "{{ research.output.score == 1 }}", true],
    ["tells none from nothing", "{{ research.output.items[2] }}", null],
    ["ignores white space around a whole expression", " {{ research.output.score }}\n", 1],
    ["reads list items by index and by dot", "{{ research.output.items[0] }}/{{ research.output.items.1 }}", "1/2.5"],
    ["replaces a chain whose root is missing", "{{ nowhere.output.x | default('d') }}", "d"],
    ["replaces null by default", "{{ research.output.items[2] | default('d') }}", "d"],
    ["gives an empty map by default", "{{ nowhere.x | default({}) }}", {}],
    ["tests a chain whose root is missing", "{{ nowhere.output.x is defined }}", false],
    ["falls back on empty text", "{{ workflow.input.branch or 'main' }}", "main"],
    ["takes a computed index", "{{ research.output.items[workflow.input.count] }}", true],
    ["keeps what stands in raw", "{% raw %}{{ x }}{% endraw %}", "{{ x }}"],
    ["drops comments", "a{# {{ x }} #}b", "ab"],
  ];
  it.each(cases)("%s", (_title, template, expected) => {
    expect(renderValue(template, scope)).toEqual(expected);
  });

  it("keeps the order of keys, also through filters", () => {
    const template = "{{ research.output.map | default({}) }}";
    expect(Object.keys(renderValue(template, scope) as object)).toEqual(["b", "a"]);
    expect(renderText("{{ research.output.map | json(indent=none) }}", scope)).toBe('{"b": 1, "a": {"d": 1, "c": 2}}');
  });

  it("renders every text inside maps and lists and leaves the rest", () => {
    const value = { list: ["{{ research.output.score }}", 3, null], text: "n{{ research.output.score }}", flag: false };
    expect(renderValue(value, scope)).toEqual({ list: [1, 3, null], text: "n1", flag: false });
  });

  it("asks a look-up only for the names that are used", () => {
    const asked: string[] = [];
    const rendered = renderValue("{{ a.b }} {% if c %}x{% endif %}", (name) => {
      asked.push(name);
      return name === "a" ? { b: 1 } : true;
    });
    expect(rendered).toBe("1 x");
    expect(asked).toEqual(["a", "c"]);
  });

  it("prints values as Python does", () => {
    const template =
      "{{ true }} {{ none }} {{ 1.0 }} {{ 6 / 2 }} {{ 1e20 }} {{ research.output.items }} {{ research.output.map }}";
    expect(renderText(template, scope)).toBe(
      `True None 1.0 3.0 1e+20 [1, 2.5, None, True, "it's"] {'b': 1, 'a': {'d': 1, 'c': 2}}`,
    );
  });

  it("runs loops, sets, macros and white space control", () => {
    const template = `{%- for key, value in research.output.map.items() if key != "a" -%}
      {{ loop.index }}{{ key }}={{ value }}
    {%- endfor %}{% set n = 2 %}{{ n }}{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}{{ twice(n) }}
`;
    expect(renderText(template, scope)).toBe("1b=1222\n");
  });

  it("keeps the final newline of a text", () => {
    expect(renderText("a {{ research.output.score }}\n", scope)).toBe("a 1\n");
  });
});

describe("a failing template", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["names a missing chain", "{{ research.output.missing }}", "research.output.missing is not defined"],
    [
      "names a missing chain that is only compared",
      "{{ research.output.missing == 1 }}",
      "research.output.missing is not defined",
    ],
    ["names a missing chain in a branch", "{% if nope %}x{% endif %}", "nope is not defined"],
    ["says the line", "a\nb {{ research.output.score + 'x' }}", "line 2"],
    ["has a tag without an end", "{{ a", "a tag has no end }}"],
    ["uses a filter that does not exist", "{{ 1 | nothing }}", "filter nothing is unknown"],
    [
      "runs out of fuel",
      "{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}",
      "out of fuel",
    ],
    ["makes too large a text", "{% for i in range(5000) %}{{ 'x' * 1000 }}{% endfor %}", "longer than"],
    ["repeats a text too often", "{{ 'x' * 2000000000 }}", "repeated more than 10000 times"],
    ["repeats a list too often", "{{ [1] * 2000000000 }}", "repeated more than 10000 times"],
    ["multiplies what is no number", "{{ research.output.items * 3 }}", "research.output.items is multiplied"],
    ["makes a number that JSON has not", "{{ 2 ** 80 }}", "not a JSON value"],
    ["formats too few values", "{{ '%s %s' | format(1) }}", "fewer values"],
  ];
  it.each(cases)("%s", (_title, template, expected) => {
    expect(messageOfFailure(() => renderValue(template, scope))).toContain(expected);
  });

  it("names its place", () => {
    expect(messageOfFailure(() => renderValue({ prompt: "{{ nope }}" }, scope, { place: "steps[0]" }))).toBe(
      "template at steps[0].prompt, line 1: nope is not defined",
    );
  });

  it("leaves the next template unharmed, even when minijinja stopped", () => {
    const deep = `{{ 1${"+1".repeat(50_000)} }}`;
    expect(messageOfFailure(() => renderText(deep, scope))).toContain("more memory");
    expect(renderValue("{{ 1 + 1 }}", scope)).toBe(2);
  });
});

describe("filters", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["{{ [1, true, none] | join('/') }}", "1/True/None"],
    ["{{ research.output.map | tojson }}", '{"a": {"c": 2, "d": 1}, "b": 1}'],
    ["{{ '<a>' | tojson }}", '"\\u003ca\\u003e"'],
    ["{{ '%s-%03d-%.2f' | format('a', 5, 1.5) }}", "a-005-1.50"],
    ["{{ 'one two three' | truncate(9, leeway=0) }}", "one..."],
    ["{{ 'ab' | center(6) }}|", "  ab  |"],
    ["{{ 'a b c' | wordcount }}!", "3!"],
    ["{{ 'a b c' | wordwrap(3) }}.", "a b\nc."],
    ["{{ 'a b/c' | urlencode }}.", "a%20b/c."],
    ["{{ true | string }}.", "True."],
    ["{{ '' | default('x', true) }}.", "x."],
    ["{{ 0 | default('x', boolean=true) }}.", "x."],
    ["{{ none | default(default_value='y') }}.", "y."],
    ["{{ gone | default }}.", "."],
    ["{{ gone | default(boolean=true) }}.", "."],
    ["{{ gone | default({'a': 1}) }}.", "{'a': 1}."],
    ["{{ research.output.map | json(0) }}", '{\n"b": 1,\n"a": {\n"d": 1,\n"c": 2\n}\n}'],
    ["{{ [1, {'a': 2}] | json(indent=1) }}", '[\n 1,\n {\n  "a": 2\n }\n]'],
    ["{{ '%5s|%-5s|%05d|%%' | format('a', 'b', 7) }}", "    a|b    |00007|%"],
    ["{{ '%x %r %f' | format(255, true, 1) }}", "ff True 1.000000"],
    ["{{ 'onetwothree' | truncate(9, leeway=0) }}", "onetwo..."],
    ["{{ 'one two three' | truncate(9, true, '!', leeway=0) }}", "one two !"],
    ["{{ 'one two' | truncate(5) }}", "one two"],
    ["{{ 'one two three' | truncate(length=9, killwords=true, end='', leeway=0) }}|", "one two t|"],
    ["{{ 'abc' | join('-') }}", "a-b-c"],
    ["{{ {'a': 1, 'b': 2} | join('-') }}", "a-b"],
    ["{{ [{'n': 1}, {'n': 2}, 3] | join(', ', attribute='n') }}", "1, 2, 3"],
    ["{{ [1, 2] | join(d=';') }}", "1;2"],
    ["{{ '' | wordcount }}!", "0!"],
    ["{{ '<&\\'>' | forceescape }}", "&#60;&#38;&#39;&#62;"],
  ];
  it.each(cases)("%s", (template, expected) => {
    expect(renderText(template, scope)).toBe(expected);
  });
});

describe("a filter that cannot", () => {
  it.each([
    ["{{ '%d' | format('a') }}", "is not a number"],
    ["{{ '%s %s' | format('a') }}", "fewer values than places"],
  ])("fails in %s", (template, expected) => {
    expect(messageOfFailure(() => renderText(template, scope))).toContain(expected);
  });
});

describe("evaluateCondition", () => {
  const cases: readonly (readonly [string, boolean])[] = [
    ["{{ output.score > 3 }}", true],
    ["{{ output.score > 9 }}", false],
    ["{{ none }}", true],
    ["{{ output.list }}", true],
    [" {{ 'No' }} ", false],
    ["output.approved", true],
    ["output.score < 7", true],
    ["score < 7 and approved", true],
    ["not approved", false],
    ["research_output == 3", false],
    ["workflow_input", true],
    ["items", true],
    ["list", false],
    ["int('3') == 3 and str(4) == '4'", true],
    ["float('1.5') > 1", true],
    ["'a' in ['a', 'b']", true],
    ["score > 3 if approved else false", true],
    ["missing is defined", false],
    ["null == none", true],
    ["research.output.score == 1", true],
  ];
  it.each(cases)("%s is %s", (condition, expected) => {
    expect(evaluateCondition(condition, scope)).toBe(expected);
  });

  it.each([
    ["exit_code == 0", "exit_code is not defined"],
    ["score && approved", "write and instead of &&"],
    ["score === 5", "write == instead of ==="],
    ["score ? 1 : 2", "write `a if condition else b`"],
    ["rand() > 1", "rand() has a place in conditions of routes only"],
    ["int('x') == 1", "int() cannot read"],
  ])("refuses %s", (condition, expected) => {
    expect(messageOfFailure(() => evaluateCondition(condition, scope))).toContain(expected);
  });
});

describe("listReferences", () => {
  it("finds the names from outside with their fixed parts", () => {
    const template = `{% for item in plan.output.items %}{{ item.name }}{{ loop.index }}{{ extra["a b"].run() }}{% endfor %}
      {{ note.text | default(other) }}{% set own = 1 %}{{ own }}{{ range(key=value) }}`;
    expect(listReferences(template).map(({ root, path, guarded }) => [root, path.join("."), guarded])).toEqual([
      ["plan", "output.items", false],
      ["extra", "a b", false],
      ["note", "text", true],
      ["other", "", false],
      ["value", "", false],
    ]);
  });

  it.each([
    ["{% with a = b, c = d.e %}{{ a }}{{ c }}{{ f }}{% endwith %}{{ a }}", ["b", "d", "f", "a"]],
    ["{% macro m(x, y=z) %}{{ x }}{{ y }}{{ w }}{% endmacro %}{{ m(1) }}", ["z", "w"]],
    ["{% macro run(x) %}{% endmacro %}{% call(user) run(list) %}{{ user }}{{ v }}{% endcall %}", ["list", "v"]],
    ["{% for k, v in m.items() %}{{ k }}{{ v }}{% endfor %}{{ k }}", ["m", "k"]],
    ["{% set a, b = pair %}{{ a }}{{ b }}", ["pair"]],
    ["{% filter upper %}{{ x }}{% endfilter %}{# {{ not }} #}{% raw %}{{ nor }}{% endraw %}", ["x"]],
  ])("keeps apart what a template names itself: %s", (template, roots) => {
    expect(listReferences(template).map(({ root }) => root)).toEqual(roots);
  });

  it("takes a name that is tested anywhere in the template for guarded", () => {
    const found = listReferences("{% if b is defined %}{{ b.output.x }}{% endif %}");
    expect(found.every((reference) => reference.guarded)).toBe(true);
  });

  it("tells what is certain to be evaluated", () => {
    const found = listReferences("{{ a }}{{ b if c else d }}{% if e %}{{ f }}{% endif %}");
    expect(found.filter((reference) => reference.certain).map((reference) => reference.root)).toEqual(["a", "e"]);
  });

  it("walks maps and lists, and conditions without braces", () => {
    expect(listReferences({ a: ["{{ x }}", 1], b: "{{ y.z }}" }).map((reference) => reference.root)).toEqual([
      "x",
      "y",
    ]);
    expect(listConditionReferences("score > limit.max").map((reference) => reference.root)).toEqual(["score", "limit"]);
  });
});

describe("faults found ahead", () => {
  it("finds faulty syntax with its line", async () => {
    await initTemplates();
    expect(findTemplateFault("a\n{% if x %}")).toMatchObject({ line: 2 });
    expect(findTemplateFault("a\n {{ b")).toEqual({
      message: "a tag has no end }}",
      line: 2,
      column: 2,
      offset: 3,
    });
    expect(findTemplateFault("{{ x | nofilter }}")).toMatchObject({
      message: "there is no filter nofilter",
      column: 8,
    });
    expect(findTemplateFault("{% if a == b %}{{ a | json }}{% endif %}")).toBeUndefined();
  });

  it("finds faulty conditions of both dialects", () => {
    expect(findConditionFault("a =")?.message).toContain("syntax error");
    expect(findConditionFault("  ")).toMatchObject({ message: "the condition is empty" });
    expect(findConditionFault("a == 1")).toBeUndefined();
  });
});
