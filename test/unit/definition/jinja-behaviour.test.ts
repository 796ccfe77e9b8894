/**
 * What templates print and decide, as Jinja2 3.1 and simpleeval do in Conductor: a table of templates and their values.
 *
 * The values are those of Python; a row differs from them only where its comment says so.
 */
import { describe, expect, it } from "vitest";
import { findTemplateFault } from "../../../src/definition/templates/template-check.js";
import { evaluateCondition, renderText, renderValue } from "../../../src/definition/templates/templates.js";

const SCOPE = {
  a: { output: { z: 1, f: 1.5, n: null, t: true, list: ["x", "y"], map: { b: 1, a: [true, null] }, items: [1, 2] } },
  rows: [
    { name: "n1", score: 1 },
    { name: "n2", score: 3 },
  ],
  s: "abc",
  workflow: { input: { branch: "", count: 0, on: false } },
};

const PRINTING: readonly (readonly [string, string])[] = [
  ["{{ true }} {{ True }} {{ false }} {{ none }} {{ None }}", "True True False None None"],
  [
    "{{ 1.0 }} {{ 10/5 }} {{ 10/4 }} {{ 7//2 }} {{ -7//2 }} {{ -7%3 }} {{ 2**3 }} {{ 1e3 }}",
    "1.0 2.0 2.5 3 -4 2 8 1000.0",
  ],
  ["{{ a.output.map }}", "{'b': 1, 'a': [True, None]}"],
  ["{{ a.output.list }} {{ [] }} {{ {} }}", "['x', 'y'] [] {}"],
  [`{{ {'a': 'it\\'s'} }} {{ ['"', "'"] }}`, `{'a': "it's"} ['"', "'"]`],
  ["{{ a.output.f }} {{ 0.1 + 0.2 }}", "1.5 0.30000000000000004"],
];

const CONCAT: readonly (readonly [string, string])[] = [
  ["{{ s ~ 1 }}", "abc1"],
  ["{{ s ~ none ~ true }}", "abcNoneTrue"],
  ["{{ s ~ a.output.f ~ a.output.list }}", "abc1.5['x', 'y']"],
  ["{{ '-' ~ a.output.z * -2 }}", "--2"],
  ["{{ 'x' ~ (1 ~ none) ~ 'y' }}", "x1Noney"],
  ["{{ (s ~ none) | upper }}", "ABCNONE"],
  ["{{ 'a' ~ 'b' == 'ab' }}", "True"],
  ["{{ 'a' ~ ('b' if true else 'c') }}", "ab"],
  ["{% if s ~ 1 == 'abc1' %}yes{% endif %}", "yes"],
];

const MAPS: readonly (readonly [string, string])[] = [
  ["{% for k, v in a.output.map.items() %}{{ k }}={{ v }};{% endfor %}", "b=1;a=[True, None];"],
  ["{% for k in a.output.map %}{{ k }}{% endfor %}", "ba"],
  ["{% for k, v in a.output.map | items %}{{ k }}{% endfor %}", "ba"],
  ["{% for k in {'b': 1, 'a': {'d': 1, 'c': 2}} %}{{ k }}{% endfor %}", "ba"],
  [
    "{% for k in {'b': 1, 'a': 2} if k != 'b' -%} {{ k }}{% endfor %}{%- for k in {'b': 1, 'a': 2} -%} {{ k }}{% endfor %}",
    "aba",
  ],
  ["{{ {'b': 1, 'a': 2} | list }} {{ {'b': 1, 'a': 2} | first }}{{ {'b': 1, 'a': 2} | last }}", "['b', 'a'] ba"],
  ["{% for k in {2: 'x', 1: 'y'} %}{{ k + 1 }}{% endfor %} {{ {} | list }}", "23 []"],
  ["{{ a.output.map.keys() | list }} {{ a.output.map.values() | list }}", "['b', 'a'] [1, [True, None]]"],
  ["{{ a.output.map.get('b') }} {{ a.output.map.get('q') }} {{ a.output.map.get('q', 'd') }}", "1 None d"],
  ["{{ a.output.items }} {{ a.output['z'] }} {{ a['output'].list[-1] }}", "[1, 2] 1 y"],
  ["{% for r in rows %}{% for k, v in r.items() %}{{ k }}{{ v }}{% endfor %}{% endfor %}", "namen1score1namen2score3"],
  ["{{ {'b': 1, 'a': 2} | dictsort | length }} {{ a.output.map | length }}", "2 2"],
  ["{{ 'b' in a.output.map }} {{ 'x' in a.output.list }} {{ 'q' not in s }} {{ 'bc' in s }}", "True True True True"],
];

const SLICES: readonly (readonly [string, string])[] = [
  ["{{ s[0] }}{{ s[-1] }} {{ s[1:] }} {{ s[:2] }} {{ s[::-1] }} {{ s[-2:] }}", "ac bc ab cba bc"],
  ["{{ a.output.list[:1] }} {{ a.output.list[1:] }} {{ [1, 2, 3, 4][::2] }}", "['x'] ['y'] [1, 3]"],
];

const SPACE: readonly (readonly [string, string])[] = [
  ["a\n{%- if true %}\n b \n{%- endif -%}\n c", "a\n bc"],
  ["a {{- ' b ' -}} c", "a b c"],
  ["{% if true %}\nx\n{% endif %}\n", "\nx\n\n"],
  ["x\n", "x\n"],
  ["{# gone #}x{% raw %}{{ y }}{% endraw %}", "x{{ y }}"],
];

const UNDEFINED: readonly (readonly [string, string])[] = [
  ["{{ nobody | default('d') }} {{ nobody.output.x | default('d') }} {{ a.output.q.r | default('d') }}", "d d d"],
  ["{{ missing.output | default('d') }}", "d"],
  [
    "{{ a.output.n | default('d') }} {{ workflow.input.branch | default('d') }}| {{ workflow.input.branch | default('d', true) }}",
    "d | d",
  ],
  [
    "{{ nobody is defined }} {{ nobody.output.x is defined }} {{ a.output.z is defined }} {{ nobody.x is not defined }}",
    "False False True True",
  ],
  ["{% if nobody is defined and nobody.output.ok %}y{% else %}n{% endif %}", "n"],
  ["{{ workflow.input.branch or 'main' }} {{ workflow.input.count or 7 }}", "main 7"],
];

const FILTERS: readonly (readonly [string, string])[] = [
  ["{{ -3 | abs }} {{ 3.7 | round }} {{ 3.14159 | round(2) }} {{ 3.2 | round(0, 'ceil') }}", "3 4.0 3.14 4.0"],
  ["{{ [1, 2, 3, 4] | batch(2) | list }} {{ [1, 2, 3] | slice(2) | list }}", "[[1, 2], [3, 4]] [[1, 2], [3]]"],
  [
    "{{ 'hello world' | title }} {{ 'hELLO' | capitalize }} {{ 'A' | lower }} {{ 'a' | upper }}",
    "Hello World Hello a A",
  ],
  ["{{ 'a' | center(5) }}|{{ ' x ' | trim }}|{{ 'abc' | replace('b', 'd') }}|{{ 'abc' | reverse }}", "  a  |x|adc|cba"],
  ["{{ 'a<b' | e }} {{ 'a<b' | escape }} {{ 'a<b' }} {{ 'a<b' | safe }}", "a&lt;b a&lt;b a<b a<b"],
  ["{{ 12345678 | filesizeformat }} {{ '<b>x</b> y' | striptags }}", "12.3 MB x y"],
  ["{{ [1, 2] | first }} {{ [1, 2] | last }} {{ [3, 1] | max }} {{ [3, 1] | min }} {{ [1, 2] | sum }}", "1 2 3 1 3"],
  ["{{ '42' | int }} {{ 'x' | int }} {{ 'x' | int(5) }} {{ '3.9' | int }} {{ 'ff' | int(0, 16) }}", "42 0 5 3 255"],
  ["{{ '1.5' | float }} {{ 'x' | float }} {{ 'x' | float(2.5) }} {{ '2' | float }}", "1.5 0.0 2.5 2.0"],
  ["{{ {'b': 1} | tojson }} {{ {'b': [1]} | json(indent=none) }}", '{"b": 1} {"b": [1]}'],
  ["{{ {'b': 1} | json }}", '{\n  "b": 1\n}'],
  [
    "{{ ['a', 'b'] | join('-') }} {{ rows | join(',', attribute='name') }} {{ rows | map(attribute='name') | join(',') }}",
    "a-b n1,n2 n1,n2",
  ],
  ["{{ 'a b' | length }} {{ 'a' | list }} {{ [1] | string }} {{ [1, [2]] | pprint }}", "3 ['a'] [1] [1, [2]]"],
  ["{{ [1, 2, 3] | select('odd') | list }} {{ [1, 2, 3] | reject('odd') | list }}", "[1, 3] [2]"],
  [
    "{{ rows | selectattr('score', 'gt', 1) | map(attribute='name') | list }} {{ rows | rejectattr('score', 'gt', 1) | list | length }}",
    "['n2'] 1",
  ],
  ["{{ rows | selectattr('name', 'equalto', 'n1') | list | length }} {{ rows | sum(attribute='score') }}", "1 4"],
  [
    "{{ rows | sort(attribute='score', reverse=true) | map(attribute='name') | list }} {{ [3, 1] | sort }}",
    "['n2', 'n1'] [1, 3]",
  ],
  ["{{ [1, 1, 2] | unique | list }} {{ rows | groupby('name') | length }}", "[1, 2] 2"],
  ["{{ '%s is %d' | format('a', 3) }} {{ '{}-{}'.format(1, 2) }} {{ '{x}'.format(x=1) }}", "a is 3 1-2 1"],
  ["{{ 'a\\nb' | indent }}|{{ 'a\\nb' | indent(2, true) }}", "a\n    b|  a\n  b"],
  [
    "{{ 'one two three four' | truncate(9, true, '…') }} {{ 'a b c' | wordcount }} {{ 'aa bb' | wordwrap(2) }}",
    "one two … 3 aa\nbb",
  ],
  ["{{ 'a b/c' | urlencode }} {{ {'a': 1, 'b': none} | xmlattr }}", 'a%20b/c  a="1"'],
];

const TESTS: readonly (readonly [string, string])[] = [
  [
    "{{ 3 is odd }} {{ 3 is even }} {{ 4 is divisibleby 2 }} {{ 3 is number }} {{ 's' is string }}",
    "True False True True True",
  ],
  [
    "{{ {} is mapping }} {{ [] is sequence }} {{ [] is iterable }} {{ none is none }} {{ true is boolean }}",
    "True True True True True",
  ],
  [
    "{{ 1 is integer }} {{ 1.5 is float }} {{ 'a' is lower }} {{ 'A' is upper }} {{ 1 is in [1] }}",
    "True True True True True",
  ],
  [
    "{{ 3 is eq 3 }} {{ 3 is ne 4 }} {{ 3 is gt 2 }} {{ 3 is ge 3 }} {{ 2 is lt 3 }} {{ 2 is le 2 }}",
    "True True True True True True",
  ],
  [
    "{{ true is true }} {{ false is false }} {{ s is callable }} {{ 'upper' is filter }} {{ 'odd' is test }}",
    "True True False True True",
  ],
];

const BLOCKS: readonly (readonly [string, string])[] = [
  [
    "{% for i in [1, 2] %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}",
    "10TrueFalse2 21FalseTrue2 ",
  ],
  ["{% for i in [] %}x{% else %}none{% endfor %} {% for i in [1, 2, 3] if i > 1 %}{{ i }}{% endfor %}", "none 23"],
  ["{% set ns = namespace(n=0) %}{% for i in [1, 2] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}", "3"],
  ["{% set x = 5 %}{{ x }} {% with y = 2 %}{{ y }}{% endwith %} {% filter upper %}z{% endfilter %}", "5 2 Z"],
  ["{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }} {{ range(3) | list }}", "12 [0, 1, 2]"],
  ["{% if a.output.z > 1 %}x{% elif a.output.t %}y{% else %}z{% endif %} {{ 'p' if a.output.n else 'q' }}", "y q"],
  [
    "{{ not true }} {{ true and false }} {{ 1 == 1.0 }} {{ 'a' < 'b' }} {{ s is string and not a.output.n }}",
    "False False True True True",
  ],
  [
    "{{ s.upper() }} {{ s.startswith('a') }} {{ 'a,b'.split(',') }} {{ ' a '.strip() }} {{ ','.join(['a', 'b']) }}",
    "ABC True ['a', 'b'] a a,b",
  ],
];

describe("templates behave as Jinja2:", () => {
  const groups = { PRINTING, CONCAT, MAPS, SLICES, SPACE, UNDEFINED, FILTERS, TESTS, BLOCKS };
  for (const [name, rows] of Object.entries(groups)) {
    it.each(rows)(`${name.toLowerCase()}: %j`, (template, expected) => {
      expect(findTemplateFault(template)).toBeUndefined();
      expect(renderText(template, SCOPE)).toBe(expected);
    });
  }

  it.each([
    "{{ nobody }}",
    "{{ nobody or 'y' }}",
    "{{ a.output.nope }}",
    "{{ a.output.nope.deeper }}",
    "{{ nobody ~ 'x' }}",
  ])("strict undefined: %s is an error", (template) => {
    expect(() => renderText(template, SCOPE)).toThrow(/is not defined/);
  });

  it("hands only what is named to the look-up, and nothing twice as large", () => {
    const asked: string[] = [];
    const look = (name: string) => {
      asked.push(name);
      return name === "a" ? SCOPE.a : undefined;
    };
    expect(renderText("{{ a.output.z ~ a.output.t }}{% for k in a.output.map %}{{ k }}{% endfor %}", look)).toBe(
      "1Trueba",
    );
    expect(new Set(asked)).toEqual(new Set(["a"]));
  });

  it("keeps the order of keys in a whole expression", () => {
    expect(JSON.stringify(renderValue("{{ a.output.map.items() | list }}", SCOPE))).toBe('[["b",1],["a",[true,null]]]');
  });

  it.each([
    ["{{ {'z': 1, 'a': 2} }}", "{'z': 1, 'a': 2}"],
    [
      "of {{ {'z': 1, 'a': {'y': 1, 'b': [{'q': 1, 'c': 2}]}} }}",
      "of {'z': 1, 'a': {'y': 1, 'b': [{'q': 1, 'c': 2}]}}",
    ],
    ["of {{ dict(z=1, a=2) }}", "of {'z': 1, 'a': 2}"],
    ["{{ {'z': 1, 'a': 2} | json(none) }}", '{"z": 1, "a": 2}'],
    ["{% set m = {'z': 1, 'a': 2} %}{% for k, v in m.items() %}{{ k }}{{ v }}{% endfor %}", "z1a2"],
  ])("keeps the order in which keys are written in %s", (template, printed) => {
    expect(renderText(template, SCOPE)).toBe(printed);
  });

  it("sorts keys in tojson, as Jinja does", () => {
    expect(renderText("{{ {'z': 1, 'a': 2} | tojson }}", SCOPE)).toBe('{"a": 2, "z": 1}');
  });
});

describe("conditions of both dialects", () => {
  const scope = {
    ...SCOPE,
    reviewer: { output: { score: 6 }, status: "ok" },
    context: { iteration: 2 },
    workflow: { input: { mode: "fast" } },
    output: { exit_code: 0, status: "ready", score: 6.5, approved: true, tags: ["a"], nothing: null },
  };
  const TABLE: readonly (readonly [string, boolean])[] = [
    ["exit_code == 0", true],
    ["status == 'ready' and score < 7", true],
    ["not approved or score >= 7", false],
    ["'a' in tags", true],
    ["'b' not in tags", true],
    ["score if approved else nobody", true],
    ["(score + 1) * 2 == 15", true],
    ["workflow_input.mode == 'fast'", true],
    ["context_iteration > 1", true],
    ["reviewer_output.score == 6", true],
    ["int('3') == 3 and float('1.5') > 1 and str(1) == '1'", true],
    ["nothing == None", true],
    ["tags[0] == 'a'", true],
    ["score ** 2 > 40", true],
    ["{{ output.score < 7 }}", true],
    ["{{ none }}", true],
    ["{{ [] }}", true],
    ["{{ '' }}", false],
    [" {{ ' No ' }} ", false],
    ["{{ 0 }}", false],
    ["{{ 'anything' }}", true],
    ["{{ False }}", false],
  ];
  it.each(TABLE)("%j is %s", (condition, expected) => expect(evaluateCondition(condition, scope)).toBe(expected));

  it("draw from the source that is handed over, and not without one", () => {
    const random = () => 0.5;
    expect(evaluateCondition("rand() == 0.5 and randint(10) == 5", scope, { random })).toBe(true);
    expect(evaluateCondition("rand() > 0.5", scope, { random })).toBe(false);
    expect(() => evaluateCondition("rand() > 0.5", scope)).toThrow(/rand\(\) has a place in conditions of routes only/);
    expect(() => renderText("{{ randint(5) }}", scope)).toThrow(/randint\(\) has a place in conditions of routes only/);
  });
});
