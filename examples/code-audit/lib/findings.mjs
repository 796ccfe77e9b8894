/**
 * What a reader should learn first, ranked by what a person would act on.
 *
 * `high` asks for action now, `medium` for a decision, `low` for a look when there is time; `info` is good to know. A rule looks at the
 * outputs and answers `[rank, severity, text, places]` or nothing; every number in a text comes from an output.
 */
import { count, formatBytes, formatCount, formatPercent, share } from "./figures.mjs";

const FINDINGS_MAX = 10;
const SEVERITIES = ["high", "medium", "low", "info"];
const PLACES_MAX = 3;

const names = (list, show = ({ name }) => name, max = 4) =>
  [...new Set(list.map(show))].slice(0, max).join(", ") + (list.length > max ? " …" : "");
const named = ({ name, version, licence }) => `${name}${version ? ` ${version}` : ""} (${licence})`;
const isInstalled = ({ dependencies }) => dependencies?.mode === "installed packages";
const isRuntime = ({ scope }) => scope !== "development";
const are = (number, one, many = `${one}s`) => `${count(number, one, many)} ${number === 1 ? "is" : "are"}`;

const RULES = [
  function likelySecrets({ secrets }) {
    const { total = 0, items } = secrets?.likely ?? {};
    if (total === 0) return undefined;
    const kinds = Object.entries(secrets.kinds).filter(([, { likely }]) => likely > 0);
    const text = `${count(total, "likely secret stands", "likely secrets stand")} in the files: ${names(kinds, ([kind, { likely }]) => `${kind} (${likely})`, 6)}. Whoever reads the tree can use ${total === 1 ? "it; revoke it" : "them; revoke them"}, for deleting is not enough.`;
    return [10, "high", text, items];
  },
  function strictLicences({ dependencies, ...outputs }) {
    const strict = ofGroups(dependencies, ["strong copyleft", "network copyleft", "restricted"]);
    if (strict.length === 0) return undefined;
    const shipped = isInstalled({ dependencies, ...outputs }) ? strict : strict.filter(isRuntime);
    const list = shipped.length > 0 ? shipped : strict;
    const what = `${are(list.length, shipped.length > 0 ? "package" : "development package")} under strong copyleft or terms that are not open: ${names(list, named)}.`;
    return shipped.length > 0
      ? [20, "high", `${what} Check the terms before distributing.`, list]
      : [64, "low", `${what} They are not needed at run time.`, list];
  },
  function nothingRead({ inventory }) {
    const skipped = inventory?.walked.skipped_by_name.items.filter(({ name }) => !name.startsWith(".git")) ?? [];
    const files = skipped.reduce((sum, entry) => sum + entry.files, 0);
    if (!inventory || inventory.totals.files > 0) return undefined;
    if (files === 0) return [5, "medium", "The folder is empty: there is nothing to audit.", []];
    const text = `Nothing was looked at: all ${count(files, "file")} lie in folders that are passed over (${names(skipped)}). Audit such a folder itself, or everything with --input include_skipped=true.`;
    return [5, "medium", text, skipped.map(({ example }) => ({ path: example }))];
  },
  function unreadable({ inventory }) {
    const files = inventory?.classes.unreadable.files ?? 0;
    const folders = inventory?.walked.unreadable_folders.total ?? 0;
    if (files + folders === 0) return undefined;
    const places = [...inventory.set_apart.unreadable.items, ...inventory.walked.unreadable_folders.items];
    const what = [files && count(files, "file"), folders && count(folders, "folder")].filter(Boolean).join(" and ");
    return [30, "medium", `${what} could not be read; this report says nothing about what is in there.`, places];
  },
  function brokenManifests({ dependencies }) {
    const { total = 0, items } = dependencies?.unparsable ?? {};
    if (total === 0) return undefined;
    return [
      40,
      "medium",
      `${count(total, "manifest")} could not be parsed; what ${total === 1 ? "it declares" : "they declare"} is unknown.`,
      items,
    ];
  },
  function deprecated({ dependencies }) {
    const list = dependencies?.locked.deprecated.items ?? [];
    const shipped = list.filter(isRuntime);
    if (list.length === 0) return undefined;
    const text = `${are(list.length, "locked package")} marked deprecated by ${list.length === 1 ? "its author" : "their authors"}: ${names(list, ({ name, version }) => `${name} ${version}`)}.`;
    return [52, shipped.length > 0 ? "medium" : "low", text, []];
  },
  function packedPrograms({ closer }) {
    const isPacked = ({ kind, findings }) =>
      kind === "binary" &&
      /executable|module/.test(findings[0]) &&
      findings.some((text) => text.includes("packed or encrypted"));
    const programs = (closer?.items ?? []).filter(isPacked);
    if (programs.length === 0) return undefined;
    return [
      35,
      "medium",
      `${are(programs.length, "program")} packed or encrypted: scanners see nothing inside.`,
      programs,
    ];
  },
  function hotFile({ churn }) {
    const [top, next] = (churn?.hot ?? []).filter(({ commits }) => commits >= 3);
    if (!top) return undefined;
    const also = next ? `; next comes ${next.path} (${formatCount(next.commits)}, ${formatCount(next.branches)})` : "";
    const text = `Changes cost most in ${top.path}: ${count(top.commits, "commit")} on ${count(top.branches, "branch", "branches")}${also}.`;
    return [55, "medium", text, [top, next].filter(Boolean)];
  },
  function tangledFunction({ hotspots, ...outputs }) {
    const { functions, thresholds } = hotspots ?? {};
    const top = functions?.most_branches[0];
    if (!top || top.branches < thresholds.many_branches) return undefined;
    const long =
      functions.long > 0
        ? ` and ${formatCount(functions.long)} ${functions.long === 1 ? "is" : "are"} ${thresholds.long_lines} lines or longer`
        : "";
    const text = `${count(functions.branchy, "function has", "functions have")} ${thresholds.many_branches} branches or more${long}, of ${formatCount(functions.found)}. The most tangled is ${top.name}: ${formatCount(top.branches)} branches in ${count(top.lines, "line")}.`;
    return [58, isInstalled(outputs) ? "info" : "medium", text, [top]];
  },
  function copies({ duplicates, ...outputs }) {
    const { lines, identical_files: identical, blocks } = duplicates ?? { lines: { duplicated: 0 } };
    if (lines.duplicated === 0) return undefined;
    const equal =
      identical.files > 0 ? `; ${count(identical.files, "file holds", "files hold")} the same code as another one` : "";
    const isWhole = identical.items[0] && identical.items[0].lines > (blocks.items[0]?.lines ?? 0);
    const places = isWhole
      ? identical.items[0].paths.map((path) => ({ path }))
      : blocks.items[0].places.map(({ path, from }) => ({ path, line: from }));
    const isNotable = lines.ratio >= 0.1 && !isInstalled(outputs);
    const text = `${formatPercent(lines.ratio)} of the ${formatCount(lines.meaningful)} lines compared are copies of others${equal}.`;
    return [60, isNotable ? "medium" : "info", text, places];
  },
  function opaqueBytes({ inventory }) {
    const { files = 0, bytes, items } = inventory?.set_apart.binary ?? {};
    if (files === 0) return undefined;
    const part = share(bytes, inventory.totals.bytes);
    const text = `${count(files, "binary file holds", "binary files hold")} ${formatBytes(bytes)}, ${formatPercent(part)} of all bytes; what ${files === 1 ? "it does" : "they do"} cannot be read from here.`;
    return [80, part >= 0.1 ? "medium" : "info", text, items];
  },
  function unknownLicences({ dependencies, ...outputs }) {
    const list = ofGroups(dependencies, ["unknown"]);
    const total = totalOf(dependencies, "unknown");
    if (!list.some(isRuntime)) return undefined;
    const { counted } = dependencies.licences;
    const of =
      total === counted && counted > 1
        ? `None of the ${formatCount(counted)} packages has a known licence`
        : `${total === counted ? "The only" : formatCount(total)}${total === counted ? "" : ` of ${formatCount(counted)}`} ${total === 1 && total === counted ? "package has" : total === 1 ? "packages has" : "packages have"} no known licence`;
    if (isInstalled({ dependencies, ...outputs })) return [45, "medium", `${of}: ${names(list)}.`, list];
    return [78, "info", `${of} (${total === 1 ? "it is" : "they are"} not installed here): ${names(list)}.`, []];
  },
  function missingLock({ dependencies }) {
    const list = (dependencies?.manifests.items ?? []).filter(
      ({ ecosystem, runtime }) => ecosystem === "npm" && runtime > 0,
    );
    if (list.length === 0 || dependencies.locks.total > 0) return undefined;
    const who = count(list.length, "package.json declares", "package.json files declare");
    return [62, "low", `${who} dependencies and there is no lock file: two installations may differ.`, list];
  },
  function looseVersions({ dependencies }) {
    const list = (dependencies?.declared.loose.items ?? []).filter(({ scope }) => scope === "runtime");
    if (list.length === 0) return undefined;
    const who = count(list.length, "run-time dependency has", "run-time dependencies have");
    return [
      63,
      "low",
      `${who} no version range of the registry: ${names(list, ({ name, reason }) => `${name} (${reason})`)}.`,
      [],
    ];
  },
  function installScripts({ dependencies }) {
    const { total = 0, items } =
      dependencies?.install_scripts.total > 0
        ? dependencies.install_scripts
        : (dependencies?.locked.with_install_scripts ?? {});
    if (total === 0) return undefined;
    const text = `${count(total, "package runs", "packages run")} install scripts: ${names(items, ({ name, version }) => `${name} ${version}`)}.`;
    return [66, "low", text, items];
  },
  function markers({ hotspots }) {
    const { total = 0, files, places, ...kinds } = hotspots?.markers ?? {};
    if (total === 0) return undefined;
    const present = Object.entries(kinds)
      .filter(([, number]) => number > 0)
      .map(([kind, number]) => `${formatCount(number)} ${kind}`);
    const graver = places.items.filter(({ marker }) => marker !== "TODO");
    const text = `${count(total, "marker was", "markers were")} left by the authors in ${count(files, "file")}: ${present.join(", ")}.`;
    return [70, "low", text, [...graver, ...places.items.filter(({ marker }) => marker === "TODO")].slice(0, 2)];
  },
  function weakCopyleft({ dependencies }) {
    const list = ofGroups(dependencies, ["weak copyleft"]);
    const total = totalOf(dependencies, "weak copyleft");
    if (total === 0) return undefined;
    const it = total === 1 ? "it" : "them";
    return [
      72,
      "info",
      `${are(total, "package")} under weak copyleft (changes to ${it} must stay open): ${names(list, named)}.`,
      [],
    ];
  },
  function severalVersions({ dependencies }) {
    const { total = 0, items } = dependencies?.installed.several_versions ?? {};
    if (total === 0) return undefined;
    const show = ({ name, versions }) => `${name} (${versions.join(", ")})`;
    return [74, "info", `${are(total, "package")} installed in several versions: ${names(items, show)}.`, []];
  },
  function noLikelySecrets({ secrets }) {
    if (!secrets || secrets.likely.total > 0 || secrets.searched.files === 0) return undefined;
    const { total } = secrets.doubtful;
    const doubtful = total > 0 ? `; ${are(total, "doubtful place")} listed below` : "";
    return [75, "info", `No likely secret was found in ${count(secrets.searched.files, "text file")}${doubtful}.`, []];
  },
  function unstructured({ inventory }) {
    const { generated, minified } = inventory?.set_apart ?? {};
    const parts = [
      generated?.files && `${are(generated.files, "file")} marked as generated`,
      minified?.files && `${are(minified.files, "file")} minified`,
    ].filter(Boolean);
    if (parts.length === 0) return undefined;
    return [
      77,
      "info",
      `${parts.join(" and ")}; duplicates and complexity leave ${generated.files + minified.files === 1 ? "it" : "them"} out.`,
      [],
    ];
  },
  function noHistory({ churn }) {
    if (!churn || churn.available) return undefined;
    return [90, "info", `Nothing can be said about who changed what: ${churn.reason}.`, []];
  },
];

const ofGroups = (dependencies, groups) =>
  (dependencies?.licences.attention.items ?? []).filter(({ group }) => groups.includes(group));
const totalOf = (dependencies, group) =>
  dependencies?.licences.by_group.find((entry) => entry.group === group)?.packages ?? 0;

/** The findings that stand first in the report, at most ten: the graver first, within one severity by rank. */
export function selectFindings(outputs) {
  return RULES.flatMap((rule) => {
    const [rank, severity, text, places] = rule(outputs) ?? [];
    const where = (places ?? []).filter(({ path }) => path !== undefined).slice(0, PLACES_MAX);
    return rank === undefined
      ? []
      : [
          {
            rank,
            severity,
            text,
            where: where.map(({ path, line }) => (line === undefined ? path : `${path}:${line}`)),
          },
        ];
  })
    .sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || a.rank - b.rank)
    .slice(0, FINDINGS_MAX)
    .map(({ rank: _rank, ...rest }) => rest);
}
