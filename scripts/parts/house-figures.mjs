/**
 * Writes docs/contributing/house.md: how large the rooms of src are, which folders import which, what an addition touches,
 * and how long the tests take. `npm run house`, with `--times unit=FILE …` for reports of vitest's JSON reporter; without
 * them the times of the page stay as they are.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { parseArgs } from "node:util";
import * as prettier from "prettier";

const PAGE = "docs/contributing/house.md";
/** Lines of the rooms before the walls inside them were built. */
const BEFORE = {
  engine: 14_068,
  runtime: 13_957,
  definition: 10_777,
  agents: 6_130,
  store: 5_030,
  cli: 4_498,
  checkpoint: 3_959,
  vault: 3_222,
  journal: 2_241,
  base: 1_805,
  mcp: 1_318,
  process: 1_127,
  recovery: 987,
  transfer: 605,
  schema: 207,
};

/** An addition touches the files that name one that is there already; tests and documentation are not counted. */
const ADDITIONS = [
  ["a kind of step that nobody performs", "`sleep_until`", /sleep_until|sleep-until|SleepUntil|SLEEP_UNTIL/],
  ["a store", "the one in memory", /MemoryStore|memory-store/],
  ["an event", "`question_reminded`", /question_reminded/],
  [
    "a reading verb",
    "`timeline`",
    /timeline-verb|timelineVerb|TimelineView|registerTimeline|verbs\/timeline|timeline\.schema/,
  ],
];

function listFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(".", join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => !path.includes("/generated/"))
    .sort();
}

const countLines = (text) => text.split("\n").length - 1;
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const folderOf = (path) => path.split("/").slice(0, -1).join("/");
const format = (number) => number.toLocaleString("en-US");

function loadSources() {
  return listFiles("src")
    .filter((path) => path.endsWith(".ts"))
    .map((path) => ({ path, text: readFileSync(path, "utf8") }));
}

/** Folders that a file imports from, its own aside. */
function importsOf({ path, text }) {
  const found = text.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*)["'](\.{1,2}\/[^"']+)["']/g);
  return [...found]
    .map((match) => folderOf(join(folderOf(path), match[1]).split(sep).join("/")))
    .filter((folder) => folder !== folderOf(path) && !folder.endsWith("/generated"));
}

/** Folder → folders. */
function drawArrows(sources) {
  const arrows = new Map();
  for (const source of sources) {
    const from = folderOf(source.path);
    arrows.set(from, new Set([...(arrows.get(from) ?? []), ...importsOf(source)]));
  }
  return arrows;
}

/** Folders in a circle of imports, or leading into one. */
function listCircular(arrows) {
  const left = new Map([...arrows].map(([from, targets]) => [from, [...targets]]));
  for (;;) {
    const free = [...left].filter(([, targets]) => !targets.some((target) => left.has(target)));
    if (free.length === 0) return [...left.keys()];
    for (const [folder] of free) left.delete(folder);
  }
}

function describeRooms(sources) {
  const rooms = [...new Set(sources.map(({ path }) => path.split("/")[1]).filter((name) => !name.includes(".")))];
  const rows = rooms
    .map((room) => {
      const own = sources.filter(({ path }) => path.startsWith(`src/${room}/`));
      const lines = own.map(({ text }) => countLines(text));
      return { room, files: own.length, lines: sum(lines), largest: Math.max(...lines) };
    })
    .sort((one, other) => other.lines - one.lines);
  const before = sum(Object.values(BEFORE));
  return [
    "| room | files | lines | largest file | lines before |",
    "| --- | --- | --- | --- | --- |",
    ...rows.map(
      ({ room, files, lines, largest }) =>
        `| ${room} | ${files} | ${format(lines)} | ${largest} | ${BEFORE[room] === undefined ? "–" : format(BEFORE[room])} |`,
    ),
    `| **all** | ${sum(rows.map(({ files }) => files))} | ${format(sum(rows.map(({ lines }) => lines)))} | ${Math.max(...rows.map(({ largest }) => largest))} | ${format(before)} |`,
  ];
}

function describeAdditions() {
  const files = ["src", "schemas"].flatMap(listFiles).map((path) => ({ path, text: readFileSync(path, "utf8") }));
  return [
    "| what is added | as | files |",
    "| --- | --- | --- |",
    ...ADDITIONS.map(([what, as, pattern]) => {
      const naming = files.filter(({ path, text }) => pattern.test(path) || pattern.test(text)).map(({ path }) => path);
      return `| ${what} | ${as} | ${naming.length}: ${naming.map((path) => `\`${path}\``).join(", ")} |`;
    }),
  ];
}

/** Seconds of work per project: those of its files, added; they run two at a time. */
function describeTimes(given, page) {
  if (given.length === 0) return page.split("## Tests\n\n")[1]?.trimEnd().split("\n") ?? ["Not measured yet."];
  return [
    "At the load that the machine had when it was measured.",
    "",
    "| project | files | tests | seconds of the files, added |",
    "| --- | --- | --- | --- |",
    ...given.map((text) => {
      const [name, file] = text.split("=");
      const { testResults, numTotalTests } = JSON.parse(readFileSync(file, "utf8"));
      const seconds = sum(testResults.map(({ startTime, endTime }) => endTime - startTime)) / 1_000;
      return `| ${name} | ${testResults.length} | ${format(numTotalTests)} | ${Math.round(seconds)} |`;
    }),
  ];
}

function readPage() {
  try {
    return readFileSync(PAGE, "utf8");
  } catch {
    return "";
  }
}

const { values } = parseArgs({ options: { times: { type: "string", multiple: true, default: [] } } });
const sources = loadSources();
const arrows = drawArrows(sources);
const count = sum([...arrows.values()].map(({ size }) => size));
const circular = listCircular(arrows);
const text = [
  "# The house in figures",
  "",
  "Written by `npm run house`; do not edit by hand. Lines are those of files that people write: generated ones are not in git.",
  "",
  "## Rooms",
  "",
  ...describeRooms(sources),
  "",
  "## Folders",
  "",
  `${arrows.size} folders, ${count} arrows between them, ${circular.length === 0 ? "no circle" : `circles: ${circular.join(", ")}`}.`,
  "`test/house.test.ts` holds which may import which.",
  "",
  "## What an addition touches",
  "",
  "Counted on one that is there: the files of `src` and `schemas` that name it.",
  "",
  ...describeAdditions(),
  "",
  "## Tests",
  "",
  ...describeTimes(values.times, readPage()),
].join("\n");
writeFileSync(PAGE, await prettier.format(text, { ...(await prettier.resolveConfig(PAGE)), filepath: PAGE }));
