// Builds dist/ from src/ and web/: generates types and validators from the schemas, writes the types, bundles the modules and the
// page of the dashboard, marks the command as executable, and writes docs/reference/ out of it. It is built in a folder beside dist/, which then takes its name: a program that runs meanwhile keeps its files,
// and a build that is cut off changes nothing.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { buildPage } from "./parts/page-build.mjs";

const { bin, exports } = JSON.parse(readFileSync("package.json", "utf8"));
/** What users run and import. */
const PUBLIC = [...Object.values(bin), exports["."].default].map((path) => /dist\/(.+)\.js$/.exec(path)[1]);
/** What the proofs and measurements import beside it. */
const FOR_PROOFS = [
  "cli/main",
  "cli/program",
  "cli/reference/pages",
  "base/digest",
  "base/node-file-system",
  "checkpoint/format/names",
  "runtime/platform/environment",
  "runtime/open",
  "runtime/platform/system-clock",
  "store/cache/cached-store",
  "store/open-store",
  "vault/aead",
  "vault/derivation",
  "vault/slot",
];

const run = (program, ...args) => execFileSync(program, args, { stdio: "inherit" });

run(process.execPath, "scripts/generate-types.mjs");
const fresh = mkdtempSync("dist-");
try {
  const compiler = "node_modules/typescript/bin/tsc";
  run(process.execPath, compiler, "-p", "tsconfig.json", "--emitDeclarationOnly", "--outDir", fresh);
  // One build for all entries: what two of them share is one chunk, and so one instance of every class.
  await build({
    entryPoints: [...new Set([...PUBLIC, ...FOR_PROOFS])].map((entry) => `src/${entry}.ts`),
    outbase: "src",
    outdir: fresh,
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    format: "esm",
    platform: "node",
    target: "node20.19",
    packages: "external",
    logLevel: "warning",
  });
  await buildPage("web", join(fresh, "web"));
  for (const path of Object.values(bin)) chmodSync(path.replace(/^(?:\.\/)?dist/, fresh), 0o755);
  chmodSync(fresh, 0o755);
  await writeReference();
  while (!takesName(fresh)) moveAway();
} finally {
  rmSync(fresh, { recursive: true, force: true });
}

/** docs/reference/, out of what was just built. */
async function writeReference() {
  const load = (path) => import(pathToFileURL(resolve(fresh, path)).href);
  const [{ createProgram }, { formatReference }] = await Promise.all([
    load("cli/program.js"),
    load("cli/reference/pages.js"),
  ]);
  const pages = formatReference(createProgram({ streams: {} }, "0"), readDeclarations());
  mkdirSync("docs/reference", { recursive: true });
  for (const [name, text] of pages) writeFileSync(join("docs/reference", name), text);
}

/** The declarations of what a program can import, by title. */
function readDeclarations() {
  const files = {
    openSplashdown: "runtime/open",
    Splashdown: "runtime/contract",
    defineWorkflow: "runtime/define-workflow",
    "The context of a function": "agents/functions/function-context",
    SplashdownError: "base/errors",
  };
  const read = (path) => readFileSync(join(fresh, `${path}.d.ts`), "utf8");
  const own = (path) => read(path).replaceAll(/^(?:import|export type) .*;\n/gm, "");
  const rest = Object.entries(files).map(([title, path]) => [title, own(path)]);
  return new Map([["Exports", read("index")], ...rest]);
}

function takesName(folder) {
  try {
    renameSync(folder, "dist");
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes(error.code)) return false;
    throw error;
  }
}

/** What has the name goes; another build may have been quicker. */
function moveAway() {
  const old = mkdtempSync("dist-");
  try {
    renameSync("dist", join(old, "dist"));
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  } finally {
    rmSync(old, { recursive: true, force: true });
  }
}
