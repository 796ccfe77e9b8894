#!/usr/bin/env node
/**
 * Runs one of the proofs and measurements of this folder over the program as it is now: `npm run proof -- NAME [flags]`.
 *
 * A proof is a file beside this one; its first comment says what it shows. Without a name, and for one that is not there,
 * all are listed. Exit status: that of the proof; 2 for a name that is not there.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const ABOUT_CHARS_MAX = 100;
const OWN = basename(import.meta.filename);

function listProofs() {
  return readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".mjs") && entry.name !== OWN)
    .map(({ name }) => ({ name: name.slice(0, -".mjs".length), about: readFirstComment(name) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The first sentence of a file's first comment. */
function readFirstComment(file) {
  const lines = readFileSync(join(import.meta.dirname, file), "utf8").split("\n");
  const start = lines.findIndex((line) => /^(?:\/\/|\/\*\*| \*) *\S/.test(line) && !/^\/\*\* *$/.test(line));
  const rest = lines.slice(start).map((line) => line.replace(/^(?:\/\/|\/\*\*| \*\/?)\s?/, "").replace(/\s*\*\/$/, ""));
  const text = rest
    .slice(
      0,
      Math.max(
        1,
        rest.findIndex((line) => line === ""),
      ),
    )
    .join(" ");
  const [sentence] = text.split(/(?<=\.) /);
  return sentence.length <= ABOUT_CHARS_MAX ? sentence : `${sentence.slice(0, ABOUT_CHARS_MAX)}…`;
}

function run(program, args) {
  const { status } = spawnSync(program, args, { stdio: "inherit" });
  return status ?? 1;
}

const [name, ...rest] = process.argv.slice(2);
const proofs = listProofs();
if (!proofs.some((proof) => proof.name === name)) {
  if (name !== undefined && name !== "--help") console.error(`no such proof: ${name}`);
  const width = Math.max(...proofs.map((proof) => proof.name.length));
  const listed = proofs.map((proof) => `  ${proof.name.padEnd(width)}  ${proof.about}`);
  console.log(["npm run proof -- NAME [flags]", "", ...listed].join("\n"));
  process.exitCode = name === undefined || name === "--help" ? 0 : 2;
} else {
  process.exitCode =
    run(process.execPath, ["scripts/build.mjs"]) || run(process.execPath, [join("proof", `${name}.mjs`), ...rest]);
}
