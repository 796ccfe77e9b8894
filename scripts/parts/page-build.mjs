/**
 * Builds the page of `splashdown dashboard` out of web/: one script, one style and one document with names made of their
 * contents, each beside its gzip, and `files.json`, the list of all that the server may give out.
 *
 * Shape of the list: `{path, type, bytes, gzip, sha256}`, the document first; `bytes` and `gzip` are sizes, the packed
 * file is `path` with `.gz`. Two builds of the same sources give the same bytes.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const TYPES = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};
/** Packages of others that are in the script; their licences lie beside it. */
const BUNDLED = ["preact", "@preact/signals", "@preact/signals-core"];
/** Units: bytes of gzip. */
const BUDGETS = { js: 60_000, css: 8_000 };

/** Errors: a bundle that is over its budget. */
export async function buildPage(source, target, budgets = BUDGETS) {
  const { outputFiles } = await build({
    entryPoints: { page: join(source, "main.tsx"), style: join(source, "styles/page.css") },
    outdir: target,
    entryNames: "[name]-[hash]",
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: ["es2022", "chrome123", "firefox120", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    write: false,
    logLevel: "warning",
  });
  const bundles = outputFiles.map(({ path, contents }) => ({ path: basename(path), contents: Buffer.from(contents) }));
  const nameOf = (end) => bundles.find(({ path }) => path.endsWith(end)).path;
  const document = readFileSync(join(source, "index.html"), "utf8")
    .replace("STYLE", `/${nameOf(".css")}`)
    .replace("SCRIPT", `/${nameOf(".js")}`);
  const files = [{ path: "index.html", contents: Buffer.from(document) }, ...bundles].map(packFile);
  for (const { path, gzip } of files) {
    const budget = budgets[path.split(".").pop()];
    if (gzip.length > budget) throw new Error(`${path} has ${gzip.length} bytes of gzip; its budget is ${budget}`);
  }
  mkdirSync(target, { recursive: true });
  for (const { path, contents, gzip } of files) {
    writeFileSync(join(target, path), contents);
    writeFileSync(join(target, `${path}.gz`), gzip);
  }
  writeFileSync(join(target, "licences.txt"), BUNDLED.map(readLicence).join("\n"));
  const list = files.map(({ path, type, contents, gzip, sha256 }) => ({
    path,
    type,
    bytes: contents.length,
    gzip: gzip.length,
    sha256,
  }));
  writeFileSync(join(target, "files.json"), `${JSON.stringify(list, undefined, 2)}\n`);
  return list;
}

function readLicence(name) {
  return `${name}\n\n${readFileSync(join("node_modules", name, "LICENSE"), "utf8")}`;
}

function packFile({ path, contents }) {
  return {
    path,
    type: TYPES[path.split(".").pop()],
    contents,
    gzip: gzipSync(contents, { level: 9 }),
    sha256: createHash("sha256").update(contents).digest("hex"),
  };
}
