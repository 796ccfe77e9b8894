/** Filters, tests and functions that there are not are told when the file is read, with what was meant. */
import { describe, expect, it } from "vitest";
import { findTemplateFault } from "../../../src/definition/templates/template-check.js";
import { WORDS_OF_JINJA } from "../../../src/definition/templates/keywords.js";

describe("a word of the template language", () => {
  it.each([
    ["{{ 'a' | uper }}", "there is no filter uper", "did you mean upper?", 10],
    ["{{ ['a'] | jion(',') }}", "there is no filter jion", "did you mean join?", 12],
    ["{{ [1] | zzzzzz }}", "there is no filter zzzzzz", undefined, 10],
    ["x {% if 1 is defned %}y{% endif %}", "there is no test defned", "did you mean defined?", 14],
    ["{{ 1 is not nubmer }}", "there is no test nubmer", "did you mean number?", 13],
    ["{{ lipsum() }}", "there is no function lipsum", undefined, 4],
  ])("that is unknown is told: %s", (template, message, suggestion, column) => {
    expect(findTemplateFault(template)).toMatchObject({
      message,
      line: 1,
      column,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  });

  it.each(WORDS_OF_JINJA.filter.map((name) => [name]))("is known: filter %s", (name) => {
    expect(findTemplateFault(`{{ [1] | ${name} }}`)).toBeUndefined();
  });

  it.each(WORDS_OF_JINJA.test.map((name) => [name]))("is known: test %s", (name) => {
    const operand = ["eq", "ne", "lt", "le", "gt", "ge", "lessthan", "greaterthan", "equalto", "sameas", "divisibleby"];
    const call = name === "in" ? "in [1]" : operand.includes(name) ? `${name}(1)` : name;
    expect(findTemplateFault(`{{ 1 is ${call} }}`)).toBeUndefined();
  });
});
