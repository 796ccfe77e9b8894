#!/usr/bin/env node
/**
 * Runs one program of the audit: `node audit.mjs NAME`, with the request on stdin and the answer on stdout.
 *
 * Each file of tools/ is one program: a function from request and channel to the answer (lib/protocol.mjs).
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openChannel, serve } from "./lib/protocol.mjs";

// Before anything else opens a descriptor of its own.
const channel = openChannel();
const [name = ""] = process.argv.slice(2);
await serve(channel, await load(name));

async function load(program) {
  const file = join(import.meta.dirname, "tools", `${program}.mjs`);
  if (!/^[a-z-]+$/.test(program) || !existsSync(file))
    fail(`no program of the audit is called "${program}"; see tools/`);
  try {
    return (await import(`./tools/${program}.mjs`)).default;
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    return fail(`the audit's libraries are not installed: npm install --prefix ${JSON.stringify(import.meta.dirname)}`);
  }
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
