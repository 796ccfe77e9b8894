/** Whole numbers beyond 2^53 and equal keys, at the doors where values come in: exact, or refused by their path. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import type { RunView } from "../../../src/index.js";
import { parseJsonFlag } from "../../../src/cli/command/flags.js";
import { readInputsFile } from "../../../src/cli/command/inputs-file.js";
import { openSplashdownInMemory } from "../../support/library-place.js";
import {
  answer,
  endStream,
  goodAnswer,
  openRawServer,
  stream,
  type RawReply,
  type RawServer,
} from "../../support/raw-server.js";

const servers: RawServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

const BIG = "1234567890123456789";
const WORDS = `the whole number ${BIG} cannot be held exactly`;

async function run(steps: readonly object[], more: object = {}, inputs?: object): Promise<RunView> {
  const splashdown = await openSplashdownInMemory();
  const workflow = { workflow: { name: "exact" }, steps, ...more } as never;
  return splashdown.run({ workflow, ...(inputs === undefined ? {} : { inputs: inputs as never }) });
}

const print = (text: string, more: object = {}) => [
  { name: "c", command: ["printf", "%s", text], effects: "none", ...more },
];

function file(name: string, content: string | Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-exact-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, content);
  chmodSync(path, 0o600);
  return path;
}

describe("a whole number that JSON cannot hold", () => {
  it("[public H] of a command is refused by its path", async () => {
    const view = await run(print(`{"id":${BIG}}`));
    expect(view.status).toBe("failed");
    expect(view.reason).toContain(`$.id: ${WORDS}`);
  });

  it("[kinds F3] of a script is refused by its path, and its text is kept exactly where it is none", async () => {
    const script = (text: string) => [
      { name: "c", type: "script", command: "printf", args: ["%s", text], effects: "none" },
    ];
    expect((await run(script(`{"id": ${BIG}}`))).reason).toContain(`$.id: ${WORDS}`);
    const kept = await run(script(`id ${BIG}`), { output: { said: "{{ c.output.stdout }}" } });
    expect(kept.output).toEqual({ said: `id ${BIG}` });
  });

  it("[public H kin] of an answer over http is refused, and the request counts as made", async () => {
    const server = await openRawServer((socket) => answer(socket, 200, {}, `{"rows":[{"id":${BIG}}]}`));
    servers.push(server);
    const view = await run([{ name: "h", url: server.url, effects: "external" }]);
    expect(view.reason ?? "").toContain(`$.rows[0].id: ${WORDS}`);
    expect(server.requests).toHaveLength(1);
  });

  it("[public H kin] of --inputs is refused by its path, in JSON and in YAML", async () => {
    for (const [name, text] of [
      ["in.json", `{"a": {"id": ${BIG}}}`],
      ["in.yaml", `a: {id: ${BIG}}`],
    ] as const)
      await expect(readInputsFile(file(name, text), { input: undefined })).rejects.toThrow(`$.a.id: ${WORDS}`);
  });

  it("[public H kin] of a flag that takes JSON is refused by its path", () => {
    expect(() => parseJsonFlag("--output", `[${BIG}]`)).toThrow(`--output cannot be taken: $[0]: ${WORDS}`);
  });

  it("[kinds F3 kin] of --input is refused for a number, and exact for a string", async () => {
    const splashdown = await openSplashdownInMemory();
    const workflow = (type: string) =>
      ({
        workflow: { name: "typed", input: { id: { type } } },
        steps: [{ name: "s", value: "1" }],
        output: { id: "{{ workflow.input.id }}" },
      }) as never;
    const texts = { inputTexts: { id: BIG } };
    await expect(splashdown.run({ workflow: workflow("number"), ...texts })).rejects.toThrow(WORDS);
    expect((await splashdown.run({ workflow: workflow("string"), ...texts })).output).toEqual({ id: BIG });
  });

  it("[kinds F3 kin] of a final output stays the text that was printed", async () => {
    const agents = [{ name: "a", type: "set", value: `id ${BIG}` }];
    const splashdown = await openSplashdownInMemory();
    const workflow = {
      workflow: { name: "last", entry_point: "a" },
      agents,
      output: { id: `{{ a.output | replace('id ', '') }}`, map: `{"id": {{ a.output | replace('id ', '') }}}` },
    } as never;
    expect((await splashdown.run({ workflow })).output).toEqual({ id: BIG, map: `{"id": ${BIG}}` });
  });

  it("[kinds F3 kin] of a model's answer is told to the model, which may give it as a text", async () => {
    const answers = { a: [{ say: `{"id": ${BIG}}` }, { say: `{"id": "${BIG}"}` }] };
    const splashdown = await openSplashdownInMemory();
    const workflow = {
      workflow: { name: "said", runtime: { provider: "scripted", scripted_answers: answers } },
      steps: [{ name: "a", prompt: "go", output: { id: { type: "string" } } }],
      output: { id: "{{ a.output.id }}" },
    } as never;
    expect(await splashdown.run({ workflow })).toMatchObject({ status: "done", output: { id: BIG } });
  });
});

describe("the input of a tool, as the model gave it", () => {
  const chunk = (body: object) => `data: ${JSON.stringify({ id: "1", ...body })}\n\n`;
  const wish =
    (input: string): RawReply =>
    (socket) => {
      const call = { index: 0, id: "c", type: "function", function: { name: "look", arguments: input } };
      const choices = (delta: object, reason: string | null) => [{ index: 0, delta, finish_reason: reason }];
      stream(
        socket,
        chunk({ choices: choices({ tool_calls: [call] }, null) }),
        chunk({ choices: choices({}, "tool_calls") }),
        "data: [DONE]\n\n",
      );
      endStream(socket);
    };

  async function look(input: string): Promise<{ called: unknown[]; told: string; view: RunView }> {
    const server = await openRawServer(wish(input), goodAnswer("done"));
    servers.push(server);
    const called: unknown[] = [];
    const splashdown = await openSplashdownInMemory({ OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "sk-a" });
    const tool = {
      name: "look",
      input: { id: { type: "integer" } },
      effects: "none",
      function: (given: { input: unknown }) => called.push(given.input),
    };
    const steps = [{ name: "s", provider: "openai-compatible", model: "m", prompt: "go", tools: ["look"] }];
    const view = await splashdown.run({ workflow: { workflow: { name: "tools" }, tools: [tool], steps } });
    return { called, told: server.requests[1] ?? "", view };
  }

  it("[public H kin] is refused where a number would change, and the model is told", async () => {
    const { called, told, view } = await look(`{"id": ${BIG}}`);
    expect(called).toEqual([]);
    expect(told).toContain(`$.id: ${WORDS}`);
    expect(view.status).toBe("done");
  });

  it("[public V] is told as broken JSON, with what the model wrote", async () => {
    const { called, told } = await look('{"id": 5');
    expect(called).toEqual([]);
    expect(told).toContain("the input cannot be read");
    expect(told).toMatch(/you wrote: \{[^"]*\\"id\\": 5/);
  });

  it.each([
    ["[public V kin]", '{"id": 5,}'],
    ["[public V kin]", "{'id': 5}"],
    ["[public V kin]", "id: 5"],
    ["[public V kin]", '{"id": 5}}'],
    ["[public V kin]", '{"id": NaN}'],
  ])("%s is told as broken JSON, and is no empty input: %s", async (_tag, said) => {
    const { called, told } = await look(said);
    expect(called).toEqual([]);
    expect(told).toContain("the input cannot be read");
    expect(told).not.toContain("must be object");
  });

  it("is handed over as it is where nothing changes", async () => {
    expect((await look('{"id": 5}')).called).toEqual([{ id: 5 }]);
  });
});

describe("bytes that are no UTF-8", () => {
  it("in an inputs file are refused and not replaced", async () => {
    const bytes = Buffer.concat([Buffer.from('{"a": "caf'), Buffer.from([0xe9]), Buffer.from('"}')]);
    await expect(readInputsFile(file("in.json", bytes), { input: undefined })).rejects.toThrow(
      "in.json cannot be read",
    );
  });
});

describe("equal keys in one object", () => {
  it("[public H kin] of a command are refused, for one of the two would be lost", async () => {
    expect((await run(print('{"a": 1, "a": 2}'))).reason).toContain("$.a: the key stands twice in one object");
  });
});

describe("an input as its declared type", () => {
  async function nested(type: string, template: string, item: unknown): Promise<RunView> {
    const path = file(
      "child.yaml",
      `workflow: {name: child, input: {i: {type: ${type}}}}\nsteps: [{name: s, value: "1"}]\noutput: {i: "{{ workflow.input.i }}"}\n`,
    );
    const splashdown = await openSplashdownInMemory();
    return splashdown.run({
      workflow: {
        workflow: { name: "parent", input: { it: { type: typeof item === "object" ? "array" : typeof item } } },
        steps: [{ name: "c", type: "workflow", workflow: path, input_mapping: { i: template } }],
        output: { i: "{{ c.output.i }}" },
      },
      inputs: { it: item } as never,
    });
  }

  it("[kinds F10] takes a number into a string of a nested workflow", async () => {
    expect(await nested("string", "{{ workflow.input.it }}", 0)).toMatchObject({ status: "done", output: { i: "0" } });
  });

  it("[kinds F10 kin] takes a boolean into a string, and a text into a number and a boolean", async () => {
    expect((await nested("string", "{{ workflow.input.it }}", true)).output).toEqual({ i: "true" });
    expect((await nested("number", "{{ workflow.input.it }}", "4.5")).output).toEqual({ i: 4.5 });
    expect((await nested("boolean", "{{ workflow.input.it }}", "false")).output).toEqual({ i: false });
  });

  it("[kinds F10 kin] takes values of the library and of a file in the same way", async () => {
    const splashdown = await openSplashdownInMemory();
    const workflow = {
      workflow: { name: "typed", input: { s: { type: "string" }, n: { type: "number" }, a: { type: "array" } } },
      steps: [{ name: "x", value: "1" }],
      output: { s: "{{ workflow.input.s }}", n: "{{ workflow.input.n }}", a: "{{ workflow.input.a }}" },
    } as never;
    const inputs = { s: 12, n: "3", a: "[1, 2]" } as never;
    expect((await splashdown.run({ workflow, inputs })).output).toEqual({ s: "12", n: 3, a: [1, 2] });
  });

  it("[kinds F10 kin] refuses what does not fit, naming both", async () => {
    const view = await nested("string", "{{ workflow.input.it }}", [1]);
    expect(view.status).toBe("failed");
    expect(view.reason).toContain("the input i must be a string, it is [1]");
  });
});
