/** Installs the engine into a folder of its own, and runs it as a server. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { installInto } from "../proofs/installed.mjs";

const folder = join(import.meta.dirname, "engine");
const START_MS_MAX = 120_000;

/** The package that holds the engine's binary for this machine. */
const BINARIES = {
  "linux-x64": "linux-x64",
  "linux-arm64": "linux-arm64",
  "darwin-arm64": "mac-arm64-metal",
  "darwin-x64": "mac-x64",
  "win32-x64": "win-x64",
  "win32-arm64": "win-arm64",
};

/** Why it cannot be had; `undefined` when it is there. Others than this machine's binaries are left out. */
export function installEngine() {
  const binary = BINARIES[`${process.platform}-${process.arch}`];
  if (binary === undefined) return `no binary for ${process.platform} on ${process.arch}`;
  const name = `@node-llama-cpp/${binary}`;
  if (existsSync(join(folder, "node_modules", name))) return undefined;
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const version = dependencies["node-llama-cpp"];
  return installInto(folder, "--omit=optional", `node-llama-cpp@${version}`, `${name}@${version}`);
}

/** Shape: its address, what it did so far, and its end. */
export async function openEngine(modelPath) {
  const child = spawn(process.execPath, [join(folder, "server.mjs"), modelPath], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const port = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the engine does not start")), START_MS_MAX);
    child.stdout.setEncoding("utf8").once("data", (text) => (clearTimeout(timer), resolve(Number(text.trim()))));
    void gone.then((status) => reject(new Error(`the engine ended with ${status}`)));
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    stats: async () => (await fetch(`${url}/stats`)).json(),
    close: async () => {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
