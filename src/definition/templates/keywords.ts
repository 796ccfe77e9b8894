/** Words of the template language that are no names from outside. */

export const KEYWORDS = new Set([
  "and",
  "or",
  "not",
  "in",
  "is",
  "if",
  "else",
  "true",
  "false",
  "none",
  "null",
  "True",
  "False",
  "None",
]);
/** Functions that minijinja or this room provides: only where they are called. A step of that name is seen everywhere else. */
export const FUNCTIONS_PROVIDED = new Set([
  "range",
  "dict",
  "namespace",
  "joiner",
  "caller",
  "int",
  "float",
  "str",
  "rand",
  "randint",
]);
/** Names that a block binds for what stands in it. */
export const NAMES_OF_FOR: readonly string[] = ["loop"];
export const NAMES_OF_MACRO: readonly string[] = ["caller", "varargs", "kwargs"];
/** Names that stand for something else in every template, so that no step can be read by one of them. */
export const UNREADABLE = new Set([...KEYWORDS, "self", "workflow", "context"]);

/** Filters and tests of Jinja2 3.1 and of Conductor, for finding what was meant. */
export const WORDS_OF_JINJA: Readonly<Record<"filter" | "test", readonly string[]>> = {
  filter: (
    "abs attr batch capitalize center default dictsort escape filesizeformat first float forceescape format groupby " +
    "indent int items join json last length list lower map max min pprint reject rejectattr replace reverse round safe " +
    "select selectattr slice sort string striptags sum title tojson trim truncate unique upper urlencode urlize " +
    "wordcount wordwrap xmlattr"
  ).split(" "),
  test: (
    "boolean callable defined divisibleby eq equalto escaped even false filter float ge gt greaterthan in integer " +
    "iterable le lower lt lessthan mapping ne none number odd sameas sequence string test true undefined upper"
  ).split(" "),
};
