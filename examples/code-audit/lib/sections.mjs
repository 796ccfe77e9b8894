/**
 * The sections of the written report. Each is a function from outputs to Markdown, empty where there is nothing to say.
 */
import { count, formatBytes, formatCount, formatPercent, share } from "./figures.mjs";
import { escapeText, formatCode, formatPlace, formatTable, joinParts } from "./markdown.mjs";
import { APART } from "./understanding.mjs";

const section = (title, ...parts) => (parts.some(Boolean) ? joinParts([`## ${title}`, ...parts]) : "");
const list = (points) =>
  points
    .filter(Boolean)
    .map((point) => `- ${point}`)
    .join("\n");
const several = (items, show) => items.slice(0, 3).map(show).join(", ") + (items.length > 3 ? " …" : "");
const phrases = (parts) => parts.filter(Boolean).join(" · ");
const named = ({ name, version }) => escapeText(`${name} ${version ?? ""}`.trim());
const percent = (value) => escapeText(formatPercent(value));

/** What the tree is, in one line. */
export function writeLead({ inventory, churn }) {
  if (!inventory) return "";
  const code = inventory.languages.filter(({ kind }) => kind === "code");
  const lines = code.reduce((sum, entry) => sum + entry.code, 0);
  const top = code
    .filter((entry) => entry.code >= lines / 100)
    .slice(0, 3)
    .map(({ language, code: own }) => `${escapeText(language)} ${percent(share(own, lines))}`);
  return phrases([
    `${count(inventory.totals.files, "file")}, ${formatBytes(inventory.totals.bytes)}`,
    lines > 0 ? `${count(lines, "line")} of code: ${top.join(", ")}` : "no source code",
    churn?.available && `${count(churn.commits.touching_folder, "commit")}, the last on ${churn.commits.last_day}`,
  ]);
}

/** The findings, the most important first. */
export function writeFindings(findings) {
  const points = findings.map(({ severity, text, where }, at) => {
    const places = where.length > 0 ? ` — ${where.map(formatCode).join(", ")}` : "";
    return `${at + 1}. **${severity}** · ${escapeText(text)}${places}`;
  });
  return points.join("\n") || "There is nothing to report: no specialist delivered an output.";
}

/** How sure the report is, and what was not looked at. */
export function writeConfidence({ inventory, duplicates, hotspots }, confidence) {
  if (!inventory) return "";
  const { walked, understood, set_apart: apart, totals } = inventory;
  const phases = Object.entries(confidence ?? {}).filter(([, value]) => typeof value === "number");
  const sampled = Object.entries({ duplicates, hotspots }).filter(([, output]) => output?.coverage.share < 1);
  const kinds = Object.entries(apart).map(([kind, entry]) => ({ what: APART[kind], ...entry }));
  return section(
    "How sure this is",
    list([
      ...phases.map(([phase, value]) => `phase ${formatCode(phase)}: confidence ${value.toFixed(2)} of 1`),
      totals.files === 0
        ? "no file was read, so nothing below says more than that"
        : `${percent(understood.files)} of the files that could hold source, and ${percent(understood.bytes)} of their bytes, were read and understood as text`,
      ...sampled.map(
        ([name, { coverage }]) =>
          `${name}: ${formatCount(coverage.examined)} of ${count(coverage.eligible, "file")} looked at`,
      ),
      walked.symlinks.total > 0 && `${count(walked.symlinks.total, "symbolic link")}: not followed`,
      walked.special.total > 0 &&
        `${count(walked.special.total, "pipe, socket or device", "pipes, sockets or devices")}: not opened`,
      "no registry, advisory database or remote repository was asked",
    ]),
    formatTable(
      kinds.filter(({ files }) => files > 0),
      {
        "set apart: files": "what",
        "#files": "files",
        "#size": ({ bytes }) => formatBytes(bytes),
        largest: ({ items: [first] }) => `${formatCode(first.path)} (${escapeText(first.reason)})`,
      },
    ),
    formatTable(walked.skipped_by_name, {
      "passed over": ({ folders, example, name }) => formatCode(folders === 1 ? example : name),
      "#folders": "folders",
      "#files": ({ files, counted_all: isAll }) => `${isAll ? "" : "\\> "}${formatCount(files)}`,
      why: "reason",
    }),
  );
}

/** Secrets: places and kinds, never values. */
export function writeSecrets({ secrets }) {
  const { likely, doubtful } = secrets ?? { likely: { total: 0, items: [] }, doubtful: { total: 0, items: [] } };
  const both = { items: [...likely.items, ...doubtful.items], total: likely.total + doubtful.total };
  if (both.total === 0) return "";
  return section(
    "Suspected secrets",
    "Values are not recorded; a fingerprint is the beginning of the SHA-256 of the value, the same for the same value.",
    formatTable(
      both,
      {
        place: formatPlace,
        kind: "kind",
        fingerprint: "fingerprint",
        doubts: ({ doubts }) => doubts?.join("; ") ?? "likely real",
      },
      25,
    ),
  );
}

/** Dependencies and licences. */
export function writeDependencies({ dependencies }) {
  if (!dependencies) return "";
  const { manifests, declared, locks, locked, installed, licences, unparsable } = dependencies;
  const { not_parsed: notParsed, own_licence: own } = dependencies;
  const isKnown = licences.by_licence.items.some(({ licence }) => licence !== "unknown");
  const scopes = Object.entries(declared.by_scope).map(([scope, number]) => `${formatCount(number)} ${scope}`);
  return section(
    "Dependencies and licences",
    phrases([
      own.licence && `a licence text of ${escapeText(own.licence)} stands at the top`,
      manifests.total > 0 && count(manifests.total, "manifest"),
      declared.total > 0 && `${count(declared.total, "dependency", "dependencies")} declared (${scopes.join(", ")})`,
      locks.total > 0 && count(locks.total, "lock file"),
      locked.packages > 0 && `${count(locked.packages, "package")} locked by npm`,
      installed.packages > 0 &&
        `${count(installed.packages, "installed package")} of ${count(installed.distinct, "name")}`,
      notParsed.total > 0 && `not parsed: ${several(notParsed.items, formatCode)}`,
    ]),
    formatTable(manifests, {
      manifest: formatPlace,
      ecosystem: "ecosystem",
      name: "name",
      "#declares": "dependencies",
      "#at run time": "runtime",
      "its own licence": ({ licence }) => escapeText(licence || "none stated"),
    }),
    formatTable(isKnown ? licences.by_licence : [], {
      licence: "licence",
      "#packages": "packages",
      "asks for": "group",
      "for example": ({ licence, group }) =>
        group === "permissive"
          ? ""
          : several(
              licences.attention.items.filter((entry) => entry.licence === licence),
              named,
            ),
    }),
    formatTable(unparsable, { "could not be parsed": formatPlace, why: "reason" }),
  );
}

/** Hot spots: tangled and long functions, markers. */
export function writeHotspots({ hotspots }) {
  if (!hotspots || hotspots.coverage.examined === 0) return "";
  const { functions, markers, languages, thresholds } = hotspots;
  const blind = languages.filter(({ heuristic }) => heuristic === "none").map(({ language }) => escapeText(language));
  const { long_lines: long, many_branches: many } = thresholds;
  const ranked = [
    ...functions.most_branches.filter(({ branches }) => branches >= many).slice(0, 6),
    ...functions.longest.filter(({ lines }) => lines >= long).slice(0, 4),
  ];
  const isFirst = (entry, at) =>
    ranked.findIndex(({ path, line }) => path === entry.path && line === entry.line) === at;
  return section(
    "Hot spots",
    phrases([
      functions.found > 0 && `${count(functions.found, "function")}, ${functions.mean_lines} lines on average`,
      blind.length > 0 && `in ${blind.join(", ")} functions cannot be found`,
    ]),
    formatTable(
      ranked.filter(isFirst),
      {
        "tangled and long functions": formatPlace,
        name: ({ name }) => formatCode(name),
        "#lines": "lines",
        "#branches": "branches",
        "#nesting": "nesting",
      },
      10,
    ),
    formatTable(markers.places, { marker: formatPlace, kind: "marker", text: "text" }),
  );
}

/** Duplicates: equal files and repeated blocks. */
export function writeDuplicates({ duplicates }) {
  if (!duplicates || duplicates.lines.duplicated === 0) return "";
  const { lines, blocks, identical_files: identical, window } = duplicates;
  const showPlace = ({ path, from, to }) => formatCode(`${path}:${from}-${to}`);
  return section(
    "Duplicates",
    `${formatCount(lines.duplicated)} of ${count(lines.meaningful, "line")} repeat lines that stand elsewhere, in files with the same code or in blocks of at least ${window}.`,
    formatTable(identical, {
      "#lines": "lines",
      "#copies": "copies",
      "files with the same code": ({ paths }) => several(paths, formatCode),
    }),
    formatTable(blocks, {
      "#lines": "lines",
      "#copies": "copies",
      "equal blocks": ({ places }) => several(places, showPlace),
    }),
  );
}

/** History. */
export function writeChurn({ churn }) {
  if (!churn?.available) return "";
  const { commits, authors, hot, most_changed: most, files_changed: changed } = churn;
  const total = count(commits.touching_folder, "commit");
  const all =
    commits.read < commits.touching_folder ? `The last ${formatCount(commits.read)} of ${total}` : `All ${total}`;
  const common = { "#commits": "commits", "#authors": "authors" };
  return section(
    "History",
    `${all} that touch this folder, ${commits.first_day} to ${commits.last_day}, by ${count(authors.total, "author")}, changed ${count(changed, "file")}.${commits.is_shallow ? " The clone is shallow: older history is not here." : ""}`,
    hot.length > 0
      ? formatTable(hot.slice(0, 8), {
          "often changed and complex": formatPlace,
          ...common,
          "#branches": "branches",
          "#code lines": "code",
        })
      : formatTable(most.slice(0, 8), {
          "changed most": formatPlace,
          ...common,
          "still there": ({ exists }) => (exists ? "yes" : "no"),
        }),
  );
}

/** What there is: languages and the longest sources. */
export function writeInventory({ inventory }) {
  if (!inventory || inventory.totals.files === 0) return "";
  const columns = { language: "language", "#files": "files", "#lines with content": "code", "#comment": "comment" };
  return section(
    "What there is",
    formatTable(inventory.languages, { ...columns, "#size": ({ bytes }) => formatBytes(bytes) }, 12),
    formatTable(inventory.longest_sources.slice(0, 5), { "longest sources": formatPlace, "#lines": "lines" }),
  );
}

/** The closer look, if one was taken. */
export function writeCloserLook({ closer }) {
  if (!closer || closer.items.length === 0) return "";
  return section(
    "A closer look at what was not understood",
    `Confidence was low, so a further specialist examined ${formatCount(closer.examined)} of the doubtful files, the largest of each kind.`,
    formatTable(
      closer.items,
      {
        file: formatPlace,
        kind: ({ kind }) => kind.replaceAll("_", " "),
        "what was found": ({ findings }) => escapeText(findings.join("; ")),
        "what stays unknown": ({ remains }) => escapeText(remains || "nothing"),
      },
      20,
    ),
  );
}

/** How the report came about: verdicts and decisions, if they were handed over. */
export function writeOrigin(evaluations, decisions) {
  const score = (value) => (typeof value === "number" ? String(Math.round(value * 10) / 10) : "");
  const all = (name, value) => `${name} ${score(value?.score ?? value)}`;
  const issues = evaluations.flatMap(({ iteration, issues: own = [] }) =>
    own.map((issue) => `iteration ${iteration}: ${escapeText(issue.text ?? issue)}`),
  );
  const steps = decisions.map(
    ({ type = "decision", description = "", rationale }) =>
      `${formatCode(type)} ${escapeText(description)}${rationale ? ` — ${escapeText(rationale.split("; ")[0])}` : ""}`,
  );
  return section(
    "How this report came about",
    formatTable(evaluations, {
      phase: "phase",
      "#iteration": "iteration",
      verdict: "verdict",
      "#score": (entry) => score(entry.score),
      dimensions: ({ dimensions = {} }) =>
        escapeText(
          Object.keys(dimensions)
            .sort()
            .map((name) => all(name, dimensions[name]))
            .join(", "),
        ),
    }),
    list([...issues.slice(0, 10), ...steps.slice(0, 20)]),
  );
}
