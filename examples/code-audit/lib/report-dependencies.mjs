/**
 * Owns the section on dependencies and licences.
 */
import { formatCount } from "./confidence.mjs";
import { escapeText, formatCode, formatCut, formatList, formatTable, joinParts } from "./markdown.mjs";
import { head, missing, place } from "./report-sections.mjs";

const MANIFESTS_SHOWN = 12;
const LICENCES_SHOWN = 15;
const ATTENTION_SHOWN = 30;

/** Dependencies and licences. */
export function writeDependencies({ dependencies }) {
  if (!dependencies) return missing("Dependencies and licences", "dependencies");
  return joinParts([
    "## Dependencies and licences",
    writeManifests(dependencies),
    writeLicences(dependencies.licences),
    writeAttention(dependencies.licences),
    writeParticulars(dependencies),
  ]);
}

function writeManifests({ mode, installed, manifests, declared, locks, locked }) {
  const lead =
    mode === "installed packages"
      ? `This is a tree of installed packages: ${formatCount(installed.packages)} packages of ${formatCount(installed.distinct)} names.`
      : `Manifests: ${formatCount(manifests.total)}, declaring ${formatCount(declared.total)} distinct dependencies. Lock files: ${formatCount(locks.total)}, those of npm with ${formatCount(locked.packages)} packages.`;
  const rows = manifests.items
    .slice(0, MANIFESTS_SHOWN)
    .map((entry) => [
      place(entry),
      entry.ecosystem,
      escapeText(entry.name),
      formatCount(entry.dependencies),
      escapeText(entry.licence || "none stated"),
    ]);
  return joinParts([
    lead,
    formatTable(["manifest", "ecosystem", "name", "#declares", "its own licence"], rows),
    formatCut(head(manifests), "manifests"),
  ]);
}

function writeLicences({ counted, by_licence: list }) {
  if (counted === 0) return "No package was found whose licence could be asked for.";
  const rows = list.items
    .slice(0, LICENCES_SHOWN)
    .map(({ licence, packages }) => [escapeText(licence), formatCount(packages)]);
  return joinParts([
    `Licences of ${formatCount(counted)} packages:`,
    formatTable(["licence", "#packages"], rows),
    formatCut({ cut: list.total - rows.length }, "licences"),
  ]);
}

function writeAttention({ copyleft, restricted, other, unknown }) {
  const marked = (list, group) => list.items.map((entry) => ({ group, ...entry }));
  const all = [
    ...copyleft.items,
    ...marked(restricted, "restricted"),
    ...marked(other, "other"),
    ...marked(unknown, "unknown"),
  ];
  if (all.length === 0) return "";
  const rows = all
    .slice(0, ATTENTION_SHOWN)
    .map((entry) => [
      escapeText(`${entry.name} ${entry.version}`.trim()),
      escapeText(entry.licence),
      entry.group,
      entry.path ? place(entry) : escapeText(entry.source || "nowhere"),
    ]);
  const total = copyleft.total + restricted.total + other.total + unknown.total;
  return joinParts([
    "Packages whose licence asks for attention:",
    formatTable(["package", "licence", "group", "read from"], rows),
    formatCut({ cut: total - rows.length }, "packages"),
  ]);
}

function writeParticulars({
  mode,
  declared,
  installed,
  install_scripts: scripts,
  locked,
  unparsable,
  not_parsed: notParsed,
}) {
  return joinParts([
    listOf(
      "Not bound to a version range of the registry:",
      declared.loose,
      ({ name, wanted, reason }) => `${formatCode(name)} ${formatCode(wanted)}: ${reason}`,
    ),
    listOf(
      "Installed in several versions:",
      installed.several_versions,
      ({ name, versions }) => `${formatCode(name)}: ${escapeText(versions.join(", "))}`,
    ),
    listOf(
      "Run a script of their own when installed:",
      mode === "installed packages" ? scripts : locked.with_install_scripts,
      showScripts,
    ),
    listOf(
      "Marked deprecated in a lock:",
      locked.deprecated,
      ({ name, version, message }) => `${formatCode(name)} ${escapeText(version)}: ${escapeText(message)}`,
    ),
    listOf(
      "Manifests that could not be parsed:",
      unparsable,
      ({ path, reason }) => `${formatCode(path)}: ${escapeText(reason)}`,
    ),
    listOf("Build files of formats that are not parsed:", notParsed, (path) => formatCode(path)),
  ]);
}

function showScripts({ name, version, scripts }) {
  return `${formatCode(name)} ${escapeText(version)}${scripts ? ` (${scripts.join(", ")})` : ""}`;
}

function listOf(title, list, show) {
  if (!list || list.total === 0) return "";
  const shown = head(list);
  return joinParts([title, formatList(shown.items.map(show)), formatCut(shown, "entries")]);
}
