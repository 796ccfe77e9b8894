/**
 * Files whose provider has an address, a key or a form of its own, run under a `provider_map`: everything goes where the
 * file says, with what the file says, or nothing leaves and both sides are named.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openSplashdown } from "../../../src/index.js";
import { createOwnEnvironment } from "../../support/own-environment.js";
import { goodAnswer, openRawServer, type RawServer } from "../../support/raw-server.js";

const servers: RawServer[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function serve(): Promise<RawServer> {
  const server = await openRawServer(goodAnswer("ok"), goodAnswer("ok"), goodAnswer("ok"));
  servers.push(server);
  return server;
}

interface Asked {
  readonly provider: object;
  readonly map?: object;
  readonly settings?: object;
  /** Of the step: its own provider. */
  readonly step?: object;
}

/** Runs one model step. `local` is the file's own server, `vendor` every other address. */
async function ask({ provider, map = {}, settings = {}, step = {} }: Asked) {
  const [local, vendor] = [await serve(), await serve()];
  const folder = mkdtempSync(join(tmpdir(), "splashdown-mapped-"));
  folders.push(folder);
  const own = Object.fromEntries(
    Object.entries(provider).map(([key, value]) => [key, value === "LOCAL" ? local.url : value]),
  );
  const runtime = { default_model: "m", provider: own };
  const agents = [{ name: "a", prompt: "the prompt", retry: { max_attempts: 1 }, ...step }];
  writeFileSync(
    join(folder, "flow.yaml"),
    JSON.stringify({ workflow: { name: "w", entry_point: "a", runtime }, agents }),
  );
  const config = { provider_map: map, ...settings };
  writeFileSync(join(folder, "splashdown.config.yaml"), JSON.stringify(config), { mode: 0o600 });
  const keys = { OPENAI_API_KEY: "vendor-key", ANTHROPIC_API_KEY: "vendor-key", FILE_KEY: "file-key" };
  const addresses = { OPENAI_BASE_URL: vendor.url, ANTHROPIC_BASE_URL: vendor.url, OLLAMA_HOST: vendor.url };
  const environment = createOwnEnvironment(folder, { SPLASHDOWN_TRUST: "1", ...keys, ...addresses });
  const splashdown = await openSplashdown({ store: "memory:", environment });
  try {
    const { reason } = await splashdown.run({ workflow: join(folder, "flow.yaml"), task: "t" });
    return { local: local.requests, vendor: vendor.requests, reason };
  } finally {
    await splashdown.close();
  }
}

const LOCAL = { name: "copilot", type: "openai", base_url: "LOCAL", api_key: "${FILE_KEY}" };
const MAPS: Readonly<Record<string, object>> = {
  nobody: {},
  openai: { copilot: "openai" },
  anthropic: { copilot: "anthropic" },
  "openai-compatible": { copilot: "openai-compatible" },
  ollama: { copilot: "ollama" },
  "another model": { copilot: { provider: "openai", model: "mapped" } },
};

describe("a file that says where its provider is", () => {
  it.each(Object.entries(MAPS))("[kinds F2 kin] is asked there alone, mapped to %s", async (to, map) => {
    const { local, vendor, reason } = await ask({ provider: { ...LOCAL, headers: { "x-team": "red" } }, map });
    expect([reason, vendor, local.length]).toEqual(["all steps are done", [], 1]);
    expect(local[0]).toMatch(/^POST \/\S*chat\/completions /);
    expect(local[0]).toMatch(/authorization: Bearer file-key/i);
    expect(local[0]).toMatch(/x-team: red/i);
    expect(local[0]).toContain(`"model":"${to === "another model" ? "mapped" : "m"}"`);
    expect(local[0]).not.toContain("vendor-key");
  });

  it.each(Object.entries(MAPS))(
    "[kinds F2 kin] keeps its form, which is Anthropic's, mapped to %s",
    async (_to, map) => {
      const { local, vendor } = await ask({ provider: { ...LOCAL, type: "anthropic" }, map });
      expect([vendor, local.length]).toEqual([[], 1]);
      expect(local[0]).toMatch(/^POST \/\S*messages /);
      expect(local[0]).toMatch(/x-api-key: file-key/i);
      expect(local[0]).not.toContain("vendor-key");
    },
  );

  it.each(Object.entries(MAPS))("[kinds F2 kin] sends no vendor's key to it, mapped to %s", async (_to, map) => {
    const { api_key: _key, ...keyless } = LOCAL;
    const settings = {
      providers: { openai: { key_variable: "OPENAI_API_KEY", header_variables: { "x-mine": "FILE_KEY" } } },
    };
    const { local, vendor } = await ask({ provider: keyless, map, settings });
    expect([vendor, local.length]).toEqual([[], 1]);
    expect(local[0]).not.toMatch(/vendor-key|x-mine/i);
  });

  it("[kinds F2 kin] leaves a step alone that names another provider", async () => {
    const { local, vendor } = await ask({ provider: LOCAL, map: MAPS["openai"] ?? {}, step: { provider: "openai" } });
    expect([local, vendor.length]).toEqual([[], 1]);
    expect(vendor[0]).not.toContain("file-key");
  });
});

describe("a file that gives a key or a form and no address", () => {
  it.each<[string, object]>([
    ["api_key", { api_key: "${FILE_KEY}" }],
    ["headers", { headers: { a: "b" } }],
    ["wire_api", { wire_api: "responses" }],
    ["type", { type: "anthropic" }],
  ])("[kinds F2 kin] is refused under another name before a prompt leaves, naming both: %s", async (field, says) => {
    const { local, vendor, reason } = await ask({ provider: { name: "copilot", ...says }, map: MAPS["openai"] ?? {} });
    expect([local, vendor]).toEqual([[], []]);
    expect(reason).toContain(`workflow.runtime.provider gives ${field} for copilot, which is not for openai`);
  });
});
