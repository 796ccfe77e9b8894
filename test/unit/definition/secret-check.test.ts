/** A secret in a file is told when the file is read, and never shown. */
import { describe, expect, it } from "vitest";
import { loadText } from "../../support/workflow-files.js";

const KEY = "sk-abcdefghijklmnop1234";
const STANDS = "a secret stands in the file, and in every task that it starts";
const FILLED = "a secret is filled in when the file is read, and stays in the task";
const IN_STEP = "name it under secrets of the step, and write {{ secrets.NAME }}";
const IN_PROVIDER = "write ${NAME}: it is read from the environment when it is used";

const step = (keys: string): string => `workflow: {name: t}\nsteps:\n  - name: a\n    ${keys}\n`;
const runtime = (keys: string): string =>
  `workflow:\n  name: t\n  entry_point: a\n  runtime: ${keys}\nagents: [{name: a, prompt: x}]\n`;
const warningsOf = async (text: string) =>
  (await loadText(text, { environment: { TOKEN: "t0ps3cret" } })).notes.filter((note) => note.includes("secret"));

describe("a secret in a workflow file", () => {
  it.each([
    [
      "a provider's key",
      runtime(`{provider: {name: openai, api_key: ${KEY}}}`),
      "4:47 workflow.runtime.provider.api_key",
      STANDS,
      IN_PROVIDER,
    ],
    [
      "a header of a provider",
      runtime("{provider: {name: openai, headers: {Authorization: Bearer abc}}}"),
      "4:63 workflow.runtime.provider.headers.Authorization",
      STANDS,
      IN_PROVIDER,
    ],
    [
      "a header of a request",
      step("url: https://x.invalid\n    headers: {Authorization: Bearer abcdef}"),
      "5:30 steps[0].headers.Authorization",
      STANDS,
      IN_STEP,
    ],
    [
      "a variable in such a header",
      step("url: https://x.invalid\n    headers: {Authorization: 'Bearer ${TOKEN}'}"),
      "5:30 steps[0].headers.Authorization",
      FILLED,
      IN_STEP,
    ],
    [
      "a password of a command",
      step("command: [x]\n    env: {DB_PASSWORD: hunter2}"),
      "5:24 steps[0].env.DB_PASSWORD",
      STANDS,
      IN_STEP,
    ],
    ["a token somewhere in a text", step(`prompt: 'use ${KEY}'`), "4:13 steps[0].prompt", STANDS, IN_STEP],
  ])("is told of %s, with its place", async (_title, text, place, message, suggestion) => {
    const warnings = await warningsOf(text);
    expect(warnings).toEqual([`/work/flow.yaml:${place}: ${message} (${suggestion})`]);
    expect(warnings.join()).not.toContain(KEY);
  });

  it.each([
    ["a variable of a provider", runtime("{provider: {name: openai, api_key: '${TOKEN}'}}")],
    ["a variable of a tool server", runtime("{mcp_servers: {s: {command: x, env: {API_TOKEN: '${TOKEN}'}}}}")],
    [
      "a secret that the step names",
      step("url: https://x.invalid\n    secrets: [T]\n    headers: {Authorization: 'Bearer {{ secrets.T }}'}"),
    ],
    [
      "a template under such a name",
      "workflow: {name: t}\nsteps: [{name: b, value: 1}, {name: a, depends_on: [b], values: {token: '{{ b.output }}'}}]\n",
    ],
    ["a field of a declared output", step("prompt: x\n    output: {token: {type: string, description: of the page}}")],
    ["a number of tokens", step("prompt: x\n    max_tokens: 100")],
  ])("is not told of %s", async (_title, text) => {
    expect(await warningsOf(text)).toEqual([]);
  });
});
