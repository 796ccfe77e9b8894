/**
 * Owns the shape of what `dependencies` delivers: counts, groups and capped lists. The tool owns collecting them.
 */
import { capList, compareText } from "./bounded-lists.mjs";
import { formatPath } from "./byte-paths.mjs";
import { selectLicenceGroup } from "./licences.mjs";
import { reasonLoose } from "./manifests.mjs";

const LISTED_MAX = 60;
const DECLARED_MAX = 250;
const COPYLEFT = ["weak copyleft", "strong copyleft", "network copyleft"];

/** How often each key occurs, the most frequent first. */
function countBy(list, keyOf) {
  const counts = new Map();
  for (const entry of list) counts.set(keyOf(entry), (counts.get(keyOf(entry)) ?? 0) + 1);
  return [...counts]
    .map(([key, count]) => ({ key, count }))
    .sort((a, b) => b.count - a.count || compareText(a.key, b.key));
}

/**
 * Builds the output of `dependencies` from what was collected.
 *
 * Shape: every list is capped and says by how much; names, versions and paths are fit to be shown.
 */
export function summariseDependencies({ found, walked, projectManifests, declared, locks, packages }) {
  return {
    walked,
    mode: found.installed.length > 0 ? "installed packages" : "project",
    ...summariseFiles(found, projectManifests),
    declared: summariseDeclared(declared),
    installed: {
      packages: found.installed.length,
      distinct: new Set(found.installed.map(({ ecosystem, name }) => `${ecosystem} ${name}`)).size,
      several_versions: capList(listVersions(found.installed), LISTED_MAX),
    },
    locked: {
      packages: locks.count,
      deprecated: capList(locks.deprecated, LISTED_MAX),
      with_install_scripts: capList(locks.scripts, LISTED_MAX),
    },
    licences: summariseLicences(packages),
    install_scripts: capList(listInstallScripts(found.installed), LISTED_MAX),
  };
}

function summariseFiles({ locks, notParsed, unparsable }, projectManifests) {
  const manifests = projectManifests.map(({ path, ecosystem, name, licence, dependencies }) => ({
    path: formatPath(path),
    ecosystem,
    name,
    licence,
    dependencies: dependencies.length,
  }));
  return {
    manifests: capList(manifests, LISTED_MAX),
    locks: capList(
      locks.map((path) => formatPath(path)),
      LISTED_MAX,
    ),
    not_parsed: capList(
      notParsed.map((path) => formatPath(path)),
      LISTED_MAX,
    ),
    unparsable: capList(
      unparsable.map(({ path, reason }) => ({ path: formatPath(path), reason })),
      LISTED_MAX,
    ),
  };
}

function summariseDeclared(declared) {
  const shown = declared.map(({ declared_in: places, ...entry }) => ({
    ...entry,
    licence: entry.licence || "unknown",
    declared_in: places.length,
  }));
  const loose = declared
    .map(({ ecosystem, name, wanted, scope }) => ({
      ecosystem,
      name,
      wanted,
      scope,
      reason: reasonLoose(ecosystem, wanted),
    }))
    .filter(({ reason }) => reason !== "");
  return {
    ...capList(shown, DECLARED_MAX),
    by_scope: countBy(declared, ({ scope }) => scope),
    by_ecosystem: countBy(declared, ({ ecosystem }) => ecosystem),
    loose: capList(loose, LISTED_MAX),
  };
}

function summariseLicences(packages) {
  const grouped = (group) => packages.filter(({ licence }) => selectLicenceGroup(licence) === group).map(showPackage);
  const copyleft = COPYLEFT.flatMap((group) => grouped(group).map((entry) => ({ group, ...entry })));
  const byLicence = countBy(packages, ({ licence }) => licence || "unknown").map(({ key, count }) => ({
    licence: key,
    packages: count,
  }));
  return {
    counted: packages.length,
    by_licence: capList(byLicence, LISTED_MAX),
    by_group: countBy(packages, ({ licence }) => selectLicenceGroup(licence)).map(({ key, count }) => ({
      group: key,
      packages: count,
    })),
    copyleft: capList(copyleft, LISTED_MAX),
    restricted: capList(grouped("restricted"), LISTED_MAX),
    other: capList(grouped("other"), LISTED_MAX),
    unknown: capList(grouped("unknown"), LISTED_MAX),
  };
}

function showPackage({ ecosystem, name, version, installed_version: installed, licence, source, path }) {
  const place = path === undefined ? {} : { path: formatPath(path) };
  return { ecosystem, name, version: version ?? installed, licence: licence || "unknown", source, ...place };
}

function listInstallScripts(installed) {
  return installed
    .filter(({ installScripts }) => installScripts.length > 0)
    .map(({ name, version, path, installScripts }) => ({
      name,
      version,
      path: formatPath(path),
      scripts: installScripts,
    }));
}

function listVersions(installed) {
  const versions = new Map();
  for (const { ecosystem, name, version } of installed) {
    const key = `${ecosystem} ${name}`;
    versions.set(key, (versions.get(key) ?? new Set()).add(version));
  }
  return [...versions]
    .filter(([, set]) => set.size > 1)
    .map(([key, set]) => ({ name: key.slice(key.indexOf(" ") + 1), versions: [...set].sort(compareText) }))
    .sort((a, b) => b.versions.length - a.versions.length || compareText(a.name, b.name));
}
