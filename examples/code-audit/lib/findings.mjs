/**
 * Owns the choice of what a reader should learn first.
 *
 * A rule looks at the outputs and answers a finding or nothing: `{rank, severity, text, where}`. Every number in a text
 * comes from an output; a rule whose output is missing is silent. Among findings of one severity the lowest rank comes first.
 */
import { formatBytes, formatCount, formatPercent, share } from "./confidence.mjs";

const FINDINGS_MAX = 10;
const SEVERITIES = ["high", "medium", "low", "info"];

const count = (number, one, many) => `${formatCount(number)} ${number === 1 ? one : many}`;
const names = (list, max = 4) => list.slice(0, max).join(", ") + (list.length > max ? " …" : "");
const finding =
  (rank, severity) =>
  (text, where = []) => ({ rank, severity, text, where: where.slice(0, 4) });
const place = ({ path, line }) => (line === undefined ? path : `${path}:${line}`);

/** In a tree of installed packages the reader cannot change the code: its shape matters less than its terms. */
const isInstalled = (dependencies) => dependencies?.mode === "installed packages";

const RULES = [
  function likelySecrets({ secrets }) {
    if (!secrets || secrets.likely.total === 0) return undefined;
    const kinds = Object.entries(secrets.kinds)
      .filter(([, { likely }]) => likely > 0)
      .map(([kind, { likely }]) => `${kind} (${likely})`);
    return finding(10, "high")(
      `${count(secrets.likely.total, "likely secret stands", "likely secrets stand")} in the files: ${names(kinds, 6)}. Whoever can read the tree can read them; revoke them rather than only delete them.`,
      secrets.likely.items.map(place),
    );
  },
  function strictLicences({ dependencies }) {
    const list = (dependencies?.licences.copyleft.items ?? []).filter(({ group }) => group !== "weak copyleft");
    const groups = Object.fromEntries(
      (dependencies?.licences.by_group ?? []).map(({ group, packages }) => [group, packages]),
    );
    const total = (groups["strong copyleft"] ?? 0) + (groups["network copyleft"] ?? 0);
    if (total === 0) return undefined;
    return finding(20, "high")(
      `${count(total, "package is", "packages are")} under strong or network copyleft: ${names(list.map(({ name, licence }) => `${name} (${licence})`))}. Check the terms before distributing.`,
      list.filter(({ path }) => path).map(place),
    );
  },
  function restrictedLicences({ dependencies }) {
    const list = dependencies?.licences.restricted;
    if (!list || list.total === 0) return undefined;
    return finding(22, "high")(
      `${count(list.total, "package is", "packages are")} under terms that are not open: ${names(list.items.map(({ name, licence }) => `${name} (${licence})`))}.`,
      list.items.filter(({ path }) => path).map(place),
    );
  },
  function unreadable({ inventory }) {
    const files = inventory?.classes.unreadable.files ?? 0;
    const folders = inventory?.walked.unreadable_folders.total ?? 0;
    if (files + folders === 0) return undefined;
    return finding(30, "medium")(
      `${count(files, "file", "files")} and ${count(folders, "folder", "folders")} could not be read; this report says nothing about them.`,
      [...inventory.set_apart.unreadable.items, ...inventory.walked.unreadable_folders.items].map(place),
    );
  },
  function mostlySkipped({ inventory }) {
    const skipped = inventory?.walked.skipped_by_name.items.filter(({ reason }) => reason.startsWith("dependencies"));
    const files = skipped?.reduce((sum, entry) => sum + entry.files, 0) ?? 0;
    if (files === 0 || inventory.totals.files > 0) return undefined;
    return finding(32, "medium")(
      `Nothing was looked at: all ${formatCount(files)} files lie in folders that hold the work of others (${names(skipped.map(({ name }) => name))}). Audit such a folder itself, or everything with --input include_skipped=true.`,
      skipped.map(({ example }) => example),
    );
  },
  function packedPrograms({ closer }) {
    const packed = (closer?.items ?? []).filter(
      ({ kind, findings }) => kind === "binary" && findings.some((text) => text.includes("packed or encrypted")),
    );
    const programs = packed.filter(({ findings }) => /executable|module/.test(findings[0]));
    if (programs.length === 0) return undefined;
    return finding(35, "medium")(
      `${count(programs.length, "program is", "programs are")} packed or encrypted: ${programs.length === 1 ? "its" : "their"} bytes look random, so scanners see nothing inside.`,
      programs.map(place),
    );
  },
  function brokenManifests({ dependencies }) {
    const list = dependencies?.unparsable;
    if (!list || list.total === 0) return undefined;
    return finding(40, "medium")(
      `${count(list.total, "manifest", "manifests")} could not be parsed; what they declare is unknown.`,
      list.items.map(place),
    );
  },
  function unknownLicences({ dependencies }) {
    const list = dependencies?.licences.unknown;
    if (!list || list.total === 0) return undefined;
    const lead = isInstalled(dependencies)
      ? `${count(list.total, "installed package states", "installed packages state")} no licence`
      : `The licence of ${count(list.total, "package", "packages")} cannot be told from this tree, where they are not installed`;
    return finding(45, "medium")(
      `${lead}, of ${formatCount(dependencies.licences.counted)}: ${names(list.items.map(({ name }) => name))}.`,
      list.items.filter(({ path }) => path).map(place),
    );
  },
  function missingLock({ dependencies }) {
    const npm = (dependencies?.manifests.items ?? []).filter(
      ({ ecosystem, dependencies: declared }) => ecosystem === "npm" && declared > 0,
    );
    if (npm.length === 0 || dependencies.locks.total > 0) return undefined;
    return finding(47, "medium")(
      `${count(npm.length, "package.json declares", "package.json files declare")} dependencies and there is no lock file: two installations may differ.`,
      npm.map(place),
    );
  },
  function looseVersions({ dependencies }) {
    const list = dependencies?.declared.loose;
    if (!list || list.total === 0) return undefined;
    return finding(
      50,
      "medium",
    )(
      `${count(list.total, "dependency is", "dependencies are")} not bound to a version range of the registry: ${names(list.items.map(({ name, reason }) => `${name} (${reason})`))}.`,
    );
  },
  function deprecated({ dependencies }) {
    const list = dependencies?.locked.deprecated;
    if (!list || list.total === 0) return undefined;
    return finding(
      52,
      "medium",
    )(
      `${count(list.total, "locked package is", "locked packages are")} marked deprecated by their authors: ${names(list.items.map(({ name, version }) => `${name} ${version}`))}.`,
    );
  },
  function hotFile({ churn }) {
    const [top, next] = churn?.hot ?? [];
    if (!top || top.commits < 3) return undefined;
    return finding(55, "medium")(
      `The hottest file is ${top.path}: ${count(top.commits, "commit", "commits")} and ${count(top.branches, "branch", "branches")}${next ? `; next comes ${next.path} (${formatCount(next.commits)}, ${formatCount(next.branches)})` : ""}. Changes there cost most.`,
      [top, next].filter(Boolean).map(place),
    );
  },
  function tangledFunction({ hotspots, dependencies }) {
    const { functions, thresholds } = hotspots ?? {};
    const top = functions?.most_branches[0];
    if (!top || top.branches < thresholds.many_branches) return undefined;
    return finding(isInstalled(dependencies) ? 73 : 58, isInstalled(dependencies) ? "info" : "medium")(
      `${count(functions.branchy, "function has", "functions have")} ${thresholds.many_branches} branches or more and ${count(functions.long, "is", "are")} ${thresholds.long_lines} lines or longer, of ${formatCount(functions.found)}. The most tangled is ${top.name} with ${formatCount(top.branches)} branches in ${formatCount(top.lines)} lines.`,
      [place(top)],
    );
  },
  function copies({ duplicates, dependencies }) {
    if (!duplicates || duplicates.lines.duplicated === 0) return undefined;
    const { lines, identical_files: identical, blocks } = duplicates;
    const equal =
      identical.files > 0
        ? ` ${count(identical.files, "file equals", "files equal")} another one (${formatCount(identical.lines)} of those lines).`
        : "";
    const where =
      identical.items[0] && (!blocks.items[0] || identical.items[0].lines > blocks.items[0].lines)
        ? identical.items[0].paths
        : (blocks.items[0]?.places ?? []).map(({ path, from }) => `${path}:${from}`);
    const isNotable = lines.ratio >= 0.1 && !isInstalled(dependencies);
    return finding(isNotable ? 60 : 76, isNotable ? "medium" : "info")(
      `${formatPercent(lines.ratio)} of the ${formatCount(lines.meaningful)} lines compared are copies of others.${equal}`,
      where,
    );
  },
  function installScripts({ dependencies }) {
    const list =
      dependencies?.install_scripts.total > 0
        ? dependencies.install_scripts
        : dependencies?.locked.with_install_scripts;
    if (!list || list.total === 0) return undefined;
    return finding(62, "medium")(
      `${count(list.total, "package runs", "packages run")} a script of its own when installed: ${names(list.items.map(({ name, version }) => `${name} ${version}`))}.`,
      list.items.filter(({ path }) => path).map(place),
    );
  },
  function opaqueBytes({ inventory }) {
    const binary = inventory?.set_apart.binary;
    if (!binary || binary.files === 0) return undefined;
    const part = share(binary.bytes, inventory.totals.bytes);
    return finding(part >= 0.1 ? 42 : 80, part >= 0.1 ? "medium" : "info")(
      `${count(binary.files, "binary file holds", "binary files hold")} ${formatBytes(binary.bytes)}, ${formatPercent(part)} of all bytes; what they do cannot be read from here.`,
      binary.items.map(place),
    );
  },
  function weakCopyleft({ dependencies }) {
    const list = (dependencies?.licences.copyleft.items ?? []).filter(({ group }) => group === "weak copyleft");
    const total = dependencies?.licences.by_group.find(({ group }) => group === "weak copyleft")?.packages ?? 0;
    if (total === 0) return undefined;
    return finding(65, "low")(
      `${count(total, "package is", "packages are")} under weak copyleft (changes to ${total === 1 ? "it" : "them"} must stay open): ${names([...new Set(list.map(({ name, licence }) => `${name} (${licence})`))])}.`,
      list.filter(({ path }) => path).map(place),
    );
  },
  function markers({ hotspots, dependencies }) {
    if (!hotspots || hotspots.markers.total === 0) return undefined;
    const { total, files, places } = hotspots.markers;
    const present = ["TODO", "FIXME", "HACK", "XXX"].filter((marker) => hotspots.markers[marker] > 0);
    const kinds = present.map((marker) => `${formatCount(hotspots.markers[marker])} ${marker}`);
    const graver = places.items.filter(({ marker }) => marker !== "TODO");
    return finding(isInstalled(dependencies) ? 88 : 70, "low")(
      `${count(total, "marker was", "markers were")} left by the authors in ${count(files, "file", "files")}: ${kinds.join(", ")}.`,
      [...new Set([...graver, ...places.items].map(place))].slice(0, 2),
    );
  },
  function severalVersions({ dependencies }) {
    const list = dependencies?.installed.several_versions;
    if (!list || list.total === 0) return undefined;
    return finding(
      72,
      "low",
    )(
      `${count(list.total, "package is", "packages are")} installed in several versions: ${names(list.items.map(({ name, versions }) => `${name} (${versions.join(", ")})`))}.`,
    );
  },
  function noLikelySecrets({ secrets }) {
    if (!secrets || secrets.likely.total > 0) return undefined;
    const doubtful =
      secrets.doubtful.total > 0
        ? `; ${count(secrets.doubtful.total, "doubtful place is", "doubtful places are")} listed below`
        : "";
    return finding(
      75,
      "info",
    )(
      `No likely secret was found in ${formatCount(secrets.searched.files)} text files (${formatBytes(secrets.searched.bytes)})${doubtful}.`,
    );
  },
  function unstructured({ inventory }) {
    const { generated, minified } = inventory?.set_apart ?? {};
    if (!generated || generated.files + minified.files === 0) return undefined;
    const parts = [
      generated.files > 0 ? `${count(generated.files, "file is", "files are")} marked as generated` : "",
      minified.files > 0 ? `${count(minified.files, "file is", "files are")} minified` : "",
    ];
    return finding(
      77,
      "info",
    )(
      `${parts.filter(Boolean).join(" and ")} (${formatBytes(generated.bytes + minified.bytes)}); duplicates and complexity leave them out.`,
    );
  },
  function licencesKnown({ dependencies }) {
    const licences = dependencies?.licences;
    if (!licences || licences.counted === 0 || licences.unknown.total > 0) return undefined;
    const top = licences.by_licence.items
      .slice(0, 3)
      .map(({ licence, packages }) => `${licence} ${formatCount(packages)}`);
    return finding(
      isInstalled(dependencies) ? 66 : 82,
      "info",
    )(
      `All ${formatCount(licences.counted)} packages state a licence: ${top.join(", ")}${licences.by_licence.total > 3 ? " and others" : ""}.`,
    );
  },
  function composition({ inventory, dependencies }) {
    if (!inventory) return undefined;
    const code = inventory.languages.filter(({ kind }) => kind === "code");
    const lines = code.reduce((sum, entry) => sum + entry.code, 0);
    const top = code
      .slice(0, 3)
      .map(({ language, code: own }) => `${language} ${formatPercent(share(own, lines || 1))}`);
    return finding(
      isInstalled(dependencies) ? 68 : 74,
      "info",
    )(
      `The tree holds ${count(inventory.totals.files, "file", "files")} (${formatBytes(inventory.totals.bytes)})${lines > 0 ? ` with ${formatCount(lines)} lines of code: ${top.join(", ")}` : " and no source code"}.`,
    );
  },
  function noHistory({ churn }) {
    if (!churn || churn.available) return undefined;
    return finding(90, "info")(`Nothing can be said about who changed what: ${churn.reason}.`);
  },
];

/**
 * Selects the findings that stand first in the report.
 *
 * Shape: at most ten; the graver first, within one severity by rank.
 * @param {object} outputs outputs by specialist; `closer` is that of the closer look
 */
export function selectFindings(outputs) {
  return RULES.map((rule) => rule(outputs))
    .filter(Boolean)
    .sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || a.rank - b.rank)
    .slice(0, FINDINGS_MAX)
    .map(({ rank: _rank, ...rest }) => rest);
}
