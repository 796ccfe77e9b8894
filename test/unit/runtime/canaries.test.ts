/** Secrets of forty kinds in everything a step can say: none is in what is kept of it, sealed or not. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { computeSecretForms } from "../../../src/base/secret-forms.js";
import { openSplashdown, type FunctionContext } from "../../../src/index.js";
import { PLANTED, repeat } from "../../support/planted-secrets.js";
import { noteTried } from "../../support/tried.js";
import { createOwnEnvironment } from "../../support/own-environment.js";

interface Canary {
  readonly kind: string;
  readonly secret: string;
  readonly text: string;
}

const REGISTERED = "canary/of a+variable ü&x=7Q";
/** A secret that only its surroundings tell. */
const hidden = (number: number): string => repeat(`q${number}Zx7`, 20);

const SHAPED = PLANTED.map(([kind, secret], at) => ({ kind: `${kind} ${at}`, secret, text: `see ${secret} there` }));
const SURROUNDED = [
  (secret: string) => `Authorization: Bearer ${secret}`,
  (secret: string) => `proxy-authorization: Basic ${secret}`,
  (secret: string) => `postgres://ada:${secret}@db:5432/x`,
  (secret: string) => `GET /a?token=${secret}&b=1`,
  (secret: string) => `export DB_PASSWORD=${secret}`,
  (secret: string) => `{"api_key": "${secret}", "n": 1}`,
].map((around, at) => ({ kind: `surrounded ${at}`, secret: hidden(at), text: around(hidden(at)) }));
const ENCODED = computeSecretForms(REGISTERED).map((secret, at) => ({
  kind: `form ${at}`,
  secret,
  text: `x ${secret} y`,
}));
const TEXTS: readonly Canary[] = [...SHAPED, ...SURROUNDED, ...ENCODED];

const FIELDS = ["password", "apiKey", "client_secret", "Set-Cookie", "GITHUB_TOKEN", "privateKey", "db_password"].map(
  (name, at) => ({ kind: `field ${name}`, name, secret: hidden(100 + at) }),
);
const SECRETS = [...TEXTS, ...FIELDS];

const all = TEXTS.map(({ text }) => text).join("\n");
const values = {
  texts: TEXTS.map(({ text }) => text),
  ...Object.fromEntries(FIELDS.map(({ name, secret }) => [name, secret])),
};

async function say(context: FunctionContext): Promise<unknown> {
  context.channel.set("values", values);
  context.channel.append("texts", all);
  await context.step("inner", () => values);
  await context.milestone("half", values);
  context.progress({ fraction: 0.5, message: all });
  context.checkpoint(values);
  return values;
}

function fail(): never {
  throw new Error(all);
}

/** Where they are said: a channel twice, a sub-step, a milestone, progress, a checkpoint, an output, an error, two streams. */
const PLACES = 10;

function defineLeaks(program: string, encryption: boolean) {
  const leak = { effects: "none", secrets: ["TOKEN"] } as const;
  return {
    workflow: { name: "leaks", entry_point: "all", limits: { max_iterations: 20 } },
    agents: [
      { name: "say", function: say, ...leak },
      { name: "fail", function: fail, ...leak },
      { name: "shout", command: ["sh", program], ...leak },
    ],
    parallel: [
      { name: "all", failure_mode: "continue_on_error", agents: ["say", "fail", "shout"], routes: [{ to: "$end" }] },
    ],
    output: { said: "{{ all.outputs.say }}" },
    checkpoint_config: { encryption },
  };
}

let folder: string;
const kept = new Map<string, string>();

function readFolder(name: string): void {
  for (const entry of readdirSync(join(folder, name), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) kept.set(path.slice(folder.length), readFileSync(path, "latin1"));
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "splashdown-canaries-"));
  writeFileSync(join(folder, "planted.txt"), all);
  const program = join(folder, "shout.sh");
  writeFileSync(program, `cat ${folder}/planted.txt; cat ${folder}/planted.txt >&2; exit 3\n`);
  const lines: string[] = [];
  const note = (text: string): void => void lines.push(text);
  const splashdown = await openSplashdown({
    store: "file:outputs",
    environment: createOwnEnvironment(folder, { PATH: process.env["PATH"] ?? "", TOKEN: REGISTERED }),
    log: { info: note, debug: note, warn: note },
  });
  for (const encryption of [true, false]) {
    const task = encryption ? "sealed" : "plain";
    const view = await splashdown.run({ workflow: defineLeaks(program, encryption), task });
    kept.set(`view of ${task}`, JSON.stringify(view));
    const events = [];
    for await (const event of splashdown.events(task)) events.push(event);
    kept.set(`events of ${task}`, JSON.stringify(events));
    kept.set(`${task} shown`, JSON.stringify(await splashdown.show(task)));
    for (const { seq } of await splashdown.checkpoints.list(task))
      kept.set(`checkpoint ${seq} of ${task}`, JSON.stringify(await splashdown.checkpoints.show(`${task}:${seq}`)));
  }
  kept.set("the log", lines.join("\n"));
  await splashdown.close();
  for (const name of ["outputs", "state"]) readFolder(name);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const asJson = (text: string): string => JSON.stringify(text).slice(1, -1);

describe("a secret that a step says", () => {
  it("is of one of forty kinds, which the search would find", () => {
    expect(SECRETS.length).toBeGreaterThanOrEqual(40);
    expect(new Set(SECRETS.map(({ secret }) => secret)).size).toBe(SECRETS.length);
    const shown = JSON.stringify([all, values]);
    expect(SECRETS.filter(({ secret }) => !shown.includes(asJson(secret)))).toEqual([]);
  });

  it("was said: what stands in its place is there, in every place", () => {
    for (const task of ["sealed", "plain"]) {
      const events = kept.get(`events of ${task}`) ?? "";
      const places = ["substep_completed", "milestone_reached", '"op":"append"', "step_failed", "step_completed"];
      expect(places.filter((place) => !events.includes(place))).toEqual([]);
      expect(events.split("[redacted:").length).toBeGreaterThan(SECRETS.length * 6);
      expect(events).toContain("[redacted:field:");
      expect(events).toContain("[redacted:env:");
    }
  });

  it.for(SECRETS)("stands in nothing that is kept or shown: $kind", ({ secret }, context) => {
    noteTried(context, PLACES);
    const found = [...kept].filter(([, text]) => text.includes(secret) || text.includes(asJson(secret)));
    expect(found.map(([where]) => where)).toEqual([]);
  });
});
