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
  "cycler",
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
