// The table of stores × groups × passed, from what the test runner reports. Pure.

const GROUPS = ["tasks", "claims", "segments", "objects", "presence", "story", "faults", "kills"];
/** In this order; what is not named here comes after. */
const STORES = [
  "memory",
  "memory behind a cache",
  "file, on a model of a disk",
  "file",
  "sqlite",
  "pglite",
  "postgres",
  "postgres behind redis",
];
const CONTRACT = /^store: (.+), (?:fresh|reopened|prefixed), (\w+)$/;
const STORY = /^on '?([\w ]+?)'?$/;
/** Stories of what users of such tools suffer from. */
const FAULT = /^FAULTS \d+: /;
const BEGIN = "<!-- stores: made by proof/stores.mjs --readme -->";
const END = "<!-- /stores -->";
/** The directory is tested on a model of a disk, too. */
const NAMES = new Map([
  ["directory on this machine", "file"],
  ["directory on a disk model", "file, on a model of a disk"],
]);

function placeOf([name = ""], title) {
  const contract = CONTRACT.exec(name);
  if (contract !== null) return { store: NAMES.get(contract[1]) ?? contract[1], group: contract[2] };
  const story = STORY.exec(name);
  return story === null ? undefined : { store: story[1], group: FAULT.test(title) ? "faults" : "story" };
}

/** Shape: one row per store, in the order they were met; counts by group. Skipped tests count as neither. */
export function computeRows(results) {
  const rows = new Map();
  for (const { ancestorTitles, title, status } of results) {
    const place = placeOf(ancestorTitles, title);
    if (place === undefined || (status !== "passed" && status !== "failed")) continue;
    const groups = rows.get(place.store) ?? new Map();
    const counts = groups.get(place.group) ?? { passed: 0, failed: 0 };
    counts[status] += 1;
    rows.set(place.store, groups.set(place.group, counts));
  }
  return [...rows].map(([store, groups]) => ({ store, groups })).sort(inOrder);
}

const rankOf = ({ store }) => (STORES.includes(store) ? STORES.indexOf(store) : STORES.length);
const inOrder = (one, other) => rankOf(one) - rankOf(other);

/** The rows with the kills of each store's kill loop: those that struck, and the violations found. */
export function addKills(rows, killed) {
  const more = killed.map(({ store, passed, failed }) => {
    const groups = rows.find((row) => row.store === store)?.groups ?? new Map();
    return { store, groups: new Map([...groups, ["kills", { passed, failed }]]) };
  });
  return [...rows.filter((row) => !more.some(({ store }) => store === row.store)), ...more].sort(inOrder);
}

/** Shape: a line for each test that failed, with the first line of why. */
export function findFaults(results) {
  return results
    .filter(({ status }) => status === "failed")
    .map(({ ancestorTitles, title, failureMessages = [] }) => {
      const why = failureMessages[0]?.split("\n")[0] ?? "";
      return `${[...ancestorTitles, title].join(", ")}: ${why}`;
    });
}

export function formatRows(rows) {
  const groups = GROUPS.filter((group) => rows.some((row) => row.groups.has(group)));
  const cell = (counts) => (counts === undefined ? "–" : `${counts.passed} of ${counts.passed + counts.failed}`);
  const lines = rows.map(
    (row) => `| ${row.store} | ${groups.map((group) => cell(row.groups.get(group))).join(" | ")} |`,
  );
  return [`| store | ${groups.join(" | ")} |`, `| --- |${" --- |".repeat(groups.length)}`, ...lines].join("\n");
}

/** The page with the table between its marks. */
export function placeTable(page, table) {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error("the page has no place for the table of stores");
  return `${page.slice(0, from + BEGIN.length)}\n\n${table}\n\n${page.slice(to)}`;
}
