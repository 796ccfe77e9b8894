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
  "True",
  "False",
  "None",
]);
/** Names that minijinja or this room provides. */
export const PROVIDED = new Set([
  "range",
  "dict",
  "namespace",
  "joiner",
  "loop",
  "self",
  "caller",
  "varargs",
  "kwargs",
  "int",
  "float",
  "str",
  "rand",
  "randint",
  "null",
]);

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
