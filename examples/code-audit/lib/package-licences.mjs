/**
 * Owns finding the licence of one package on disk: the manifest's field first, then a recognised licence text.
 */
import { readdirSync } from "node:fs";
import { absolutePath, folderOf, joinPath } from "./byte-paths.mjs";
import { readSmallText } from "./file-reader.mjs";
import { isLicenceFile, recogniseLicenceText } from "./licences.mjs";
import { cleanText, recogniseManifest } from "./manifests.mjs";

const MANIFEST_BYTES_MAX = 8 * 1024 * 1024;
const LICENCE_BYTES_MAX = 512 * 1024;

/**
 * Finds the licence of the package in a folder.
 *
 * Shape: `{licence, source}`; the licence is empty when none was found, and the source says where it was read.
 */
export function findLicence(root, folder, field) {
  if (field && !/^see licen[cs]e/i.test(field)) return { licence: field, source: "manifest" };
  const recognised = readLicenceText(root, folder);
  if (recognised) return { licence: recognised, source: "licence text" };
  return { licence: field, source: field ? "manifest" : "" };
}

function readLicenceText(root, folder) {
  let names;
  try {
    names = readdirSync(absolutePath(root, folder), { encoding: "buffer" }).map((name) => name.toString("latin1"));
  } catch {
    return "";
  }
  for (const name of names.filter(isLicenceFile).sort()) {
    const { text } = readSmallText(root, joinPath(folder, name), LICENCE_BYTES_MAX);
    const licence = text ? recogniseLicenceText(text) : "";
    if (licence) return licence;
  }
  return "";
}

/** Reads an installed npm package: `{name, version, licence, source, installScripts}`, or `undefined`. */
export function readNpmPackage(root, folder) {
  const { text } = readSmallText(root, joinPath(folder, "package.json"), MANIFEST_BYTES_MAX);
  if (text === undefined) return undefined;
  try {
    const manifest = recogniseManifest("package.json").parse(text);
    return { ...manifest, ...findLicence(root, folder, manifest.licence) };
  } catch {
    return undefined;
  }
}

/** Reads the metadata of an installed Python package (`*.dist-info/METADATA`). */
export function readPythonMetadata(text) {
  const head = text.slice(0, text.search(/\r?\n\r?\n/) >>> 0);
  const field = (name) => new RegExp(`^${name}: (.+)$`, "mi").exec(head)?.[1]?.trim() ?? "";
  const classifier = /^Classifier: License :: (?:OSI Approved :: )?(.+)$/im.exec(head)?.[1]?.trim() ?? "";
  const stated = field("License-Expression") || field("License");
  return {
    name: cleanText(field("Name")),
    version: cleanText(field("Version")),
    licence: cleanText(stated.length > 0 && stated.length <= 60 ? stated : classifier.replace(/ License$/, "")),
  };
}

/** The folder of an installed npm package as seen from a manifest: the nearest `node_modules` upwards. */
export function findInstalled(root, manifestFolder, name) {
  if (!/^(?:@[\w.~-]+\/)?[\w.~-]+$/.test(name) || name.includes("..")) return undefined;
  for (let folder = manifestFolder; ; folder = folderOf(folder)) {
    const found = readNpmPackage(root, joinPath(joinPath(folder, "node_modules"), name));
    if (found) return found;
    if (folder === "") return undefined;
  }
}
