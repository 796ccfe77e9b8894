/**
 * Owns the little TOML that pyproject.toml and Cargo.toml need: tables, keys, strings, arrays of strings, inline tables.
 *
 * This is no TOML parser. Dates, numbers and arrays of tables are passed over. What cannot be read as a key and a value
 * is passed over too, except an unclosed array or table header, which is an error.
 */

/**
 * Reads tables.
 *
 * Shape: a map from table name (dots kept) to a map from key to string, array of strings, or the raw text of the value.
 */
export function parseTables(text) {
  const tables = new Map([["", new Map()]]);
  let table = tables.get("");
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const line = stripComment(lines[at]).trim();
    if (line === "") continue;
    if (line.startsWith("[")) {
      const header = /^\[\[?\s*([^\]]+?)\s*\]\]?$/.exec(line);
      if (!header) throw new Error(`line ${at + 1}: table header is not closed`);
      const name = header[1].replaceAll('"', "").replace(/\s*\.\s*/g, ".");
      if (!tables.has(name)) tables.set(name, new Map());
      table = tables.get(name);
      continue;
    }
    const match = /^("[^"]+"|'[^']+'|[\w.-]+)\s*=\s*(.*)$/.exec(line);
    if (!match) continue;
    const taken = takeValue(lines, at, match[2]);
    at = taken.at;
    table.set(match[1].replace(/^["']|["']$/g, ""), parseValue(taken.text));
  }
  return tables;
}

/** The text of a value that may run over several lines. */
function takeValue(lines, start, first) {
  let text = first;
  let at = start;
  const isOpen = () => {
    const bare = text.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, "");
    return bare.split("[").length > bare.split("]").length;
  };
  while (isOpen()) {
    at++;
    if (at >= lines.length) throw new Error(`line ${start + 1}: array is not closed`);
    text += ` ${stripComment(lines[at])}`;
  }
  return { text: text.trim(), at };
}

function parseValue(text) {
  const quoted = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')$/.exec(text);
  if (quoted) return quoted[1] ?? quoted[2];
  if (text.startsWith("["))
    return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g)].map((match) => match[1] ?? match[2]);
  return text;
}

function stripComment(line) {
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    if (quote !== "") quote = line[at] === quote ? "" : quote;
    else if (line[at] === '"' || line[at] === "'") quote = line[at];
    else if (line[at] === "#") return line.slice(0, at);
  }
  return line;
}

const wantedOf = (value) =>
  typeof value === "string"
    ? (/\bversion\s*=\s*"([^"]+)"/.exec(value)?.[1] ?? (value.startsWith("{") ? gitOf(value) : value))
    : "";
const gitOf = (value) => /\bgit\s*=\s*"([^"]+)"/.exec(value)?.[1] ?? "";

/** Reads a Cargo manifest. */
export function parseCargo(text) {
  const tables = parseTables(text);
  const dependencies = [];
  for (const [name, table] of tables) {
    const match = /^(?:workspace\.|target\..*\.)?(dev-|build-)?dependencies(?:\.(.+))?$/.exec(name);
    if (!match) continue;
    const scope = match[1] === "dev-" ? "development" : match[1] === "build-" ? "build" : "runtime";
    if (match[2]) dependencies.push({ name: match[2], wanted: wantedOf(table.get("version")), scope });
    else for (const [key, value] of table) dependencies.push({ name: key, wanted: wantedOf(value), scope });
  }
  const own = tables.get("package") ?? new Map();
  return { name: own.get("name"), version: own.get("version"), licence: own.get("license"), dependencies };
}

/** Reads a Python project file: PEP 621, PEP 735 groups, and Poetry. */
export function parsePyproject(text) {
  const tables = parseTables(text);
  const own = tables.get("project") ?? tables.get("tool.poetry") ?? new Map();
  const dependencies = listOf(own.get("dependencies"), "runtime");
  for (const [name, table] of tables) dependencies.push(...listFromTable(name, table));
  return { name: own.get("name"), version: own.get("version"), licence: licenceOf(own.get("license")), dependencies };
}

function listFromTable(name, table) {
  if (name === "project.optional-dependencies") return [...table.values()].flatMap((list) => listOf(list, "optional"));
  if (name === "dependency-groups") return [...table.values()].flatMap((list) => listOf(list, "development"));
  const poetry = /^tool\.poetry\.(?:(dev-dependencies|group\..+\.dependencies)|dependencies)$/.exec(name);
  if (!poetry) return [];
  const scope = poetry[1] ? "development" : "runtime";
  return [...table]
    .filter(([key]) => key !== "python")
    .map(([key, value]) => ({ name: key, wanted: wantedOf(value), scope }));
}

/** A licence as text, or as the inline table `{text = "…"}`. */
function licenceOf(value) {
  const text = String(value ?? "");
  const inline = /text\s*=\s*"([^"]+)"/.exec(text)?.[1];
  return inline ?? (text.startsWith("{") ? "" : text);
}

function listOf(list, scope) {
  if (!Array.isArray(list)) return [];
  return list.map((text) => {
    const match = /^\s*([\w.-]+)\s*(?:\[[^\]]*\])?\s*([^;]*)/.exec(text);
    return { name: match?.[1] ?? text, wanted: match?.[2]?.trim() ?? "", scope };
  });
}
