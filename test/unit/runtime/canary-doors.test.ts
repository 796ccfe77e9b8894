/** Secrets of forty kinds through every door by which texts come in: no byte that is written anywhere holds one. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { computeSecretForms } from "../../../src/base/secret-forms.js";
import { openSplashdown, type FunctionContext, type Splashdown } from "../../../src/index.js";
import { createOwnEnvironment } from "../../support/own-environment.js";
import { PLANTED } from "../../support/planted-secrets.js";
import { noteTried } from "../../support/tried.js";

const REGISTERED = "canary/of a+variable 'ü&x=7Q'";
const SECRETS: readonly string[] = [...PLANTED.map(([, secret]) => secret), ...computeSecretForms(REGISTERED)];
const ALL = SECRETS.join("\n");
const SAYING = "the words of a person, which are no secret by their look";

/** Who says them: inputs, a question, a label, an answer, guidance, a model's prompt and answer, an output, a file, an error. */
const DOORS = 10;

let folder: string;
let said: string[];
const kept = new Map<string, string>();

function keepFolder(name: string): void {
  for (const entry of readdirSync(join(folder, name), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) kept.set(path.slice(folder.length), readFileSync(path, "latin1"));
  }
}

function defineDoors() {
  return {
    workflow: {
      name: "doors",
      input: { all: { type: "string" } },
      runtime: { scripted_answers: { ask: [{ say: { text: ALL } }] } },
    },
    steps: [
      { name: "say", effects: "none", secrets: ["TOKEN"], input: { all: "{{ workflow.input.all }}" }, function: say },
      {
        name: "ask",
        provider: "scripted",
        prompt: "Say {{ workflow.input.all }}",
        depends_on: ["say"],
        save_as: { "note.md": "text" },
      },
      {
        name: "gate",
        type: "human_gate",
        prompt: "Is it {{ workflow.input.all }}?",
        options: [{ value: "yes", label: "{{ workflow.input.all }}", prompt_for: "why" }],
        depends_on: ["say"],
      },
      { name: "fail", effects: "none", function: fail, depends_on: ["gate"] },
    ],
  };
}

function say(context: FunctionContext): unknown {
  said.push(String(context.input["all"]));
  return { all: ALL };
}

function fail(): never {
  throw new Error(ALL);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "splashdown-doors-"));
  said = [];
  const lines: string[] = [];
  const note = (text: string): void => void lines.push(text);
  const splashdown = await openSplashdown({
    store: "file:outputs",
    environment: createOwnEnvironment(folder, { TOKEN: REGISTERED }),
    log: { info: note, debug: note, warn: note },
  });
  const workflow = defineDoors() as unknown as Parameters<Splashdown["run"]>[0]["workflow"];
  const inputs = { all: `${ALL}\n${SAYING}` };
  const waiting = await splashdown.run({ workflow, task: "doors", inputs });
  kept.set("how it waits", waiting.status);
  await splashdown.guide({ task: "doors", text: `${ALL.slice(0, 7_000)}\n${SAYING}` });
  await splashdown.answer({ task: "doors", answer: "yes", more: `${ALL.slice(0, 7_000)}\n${SAYING}` });
  const end = await splashdown.resume({ task: "doors" });
  kept.set("how it ended", (end as { readonly status: string }).status);
  await splashdown.checkpoints.export("doors", { file: join(folder, "outputs", "whole.zip") });
  await splashdown.checkpoints.export("doors", { file: join(folder, "outputs", "report.zip"), redacted: true });
  kept.set("metrics", JSON.stringify(await splashdown.metrics("doors")));
  kept.set("list", JSON.stringify(await splashdown.list()));
  kept.set("audit", JSON.stringify(await splashdown.audit.show("doors")));
  await splashdown.close();
  kept.set("the log", lines.join("\n"));
  for (const name of ["outputs", "state"]) keepFolder(name);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a secret that comes in by any door", () => {
  it("came in, and the search would find it", () => {
    expect(SECRETS.length).toBeGreaterThanOrEqual(40);
    expect(said[0]).toBe(`${ALL}\n${SAYING}`);
    expect(kept.get("how it waits")).toBe("waiting");
    expect(kept.get("how it ended")).toBe("failed");
    expect(
      [...kept.keys()].filter((name) => /note\.md|whole\.zip|report\.zip/.test(name)).length,
    ).toBeGreaterThanOrEqual(3);
  });

  it("stands in no file, not even what a person said and only the key protects", () => {
    const found = [...kept].filter(([, text]) => text.includes(SAYING));
    expect(found.map(([where]) => where)).toEqual([]);
  });

  it.for(SECRETS.map((secret, at) => ({ kind: at, secret })))(
    "stands in nothing that is written: $kind",
    ({ secret }, context) => {
      noteTried(context, DOORS);
      const found = [...kept].filter(
        ([, text]) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)),
      );
      expect(found.map(([where]) => where)).toEqual([]);
    },
  );
});
