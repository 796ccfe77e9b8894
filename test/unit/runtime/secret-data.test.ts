/** A text that looks like a placeholder of a secret is data: only what a template itself names is filled in. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSplashdown, type FunctionContext } from "../../../src/index.js";
import { createOwnEnvironment } from "../../support/own-environment.js";

const SECRET = "the-real-value-123";
const TEXT = "hello {{ secrets.MY_TOKEN }} bye";
/** Who knows the form of a mark still cannot know its nonce. */
const MARK = `{{ secrets.MY_TOKEN ${"0".repeat(32)} }}`;

interface Seen {
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let folder: string;
let server: Server;
let origin: string;
let seen: Seen[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "splashdown-secret-data-"));
  seen = [];
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString("utf8")));
    request.on("end", () => {
      seen.push({ url: request.url, headers: request.headers, body });
      response.end("ok");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const environment = () => createOwnEnvironment(folder, { PATH: "/usr/bin:/bin", MY_TOKEN: SECRET });

/** Runs steps, each after the one before, and gives what the last one left. */
async function run(steps: readonly object[], inputs: Record<string, string> = {}) {
  const splashdown = await openSplashdown({ store: "memory:", environment: environment() });
  try {
    const chained = steps.map((step, at) => ({
      ...step,
      ...(at === 0 ? {} : { depends_on: [(steps[at - 1] as { readonly name: string }).name] }),
    }));
    const workflow = { name: "data", input: { text: { type: "string", default: "" } } };
    return await splashdown.run({ workflow: { workflow, steps: chained }, inputs });
  } finally {
    await splashdown.close();
  }
}

const say = {
  name: "say",
  effects: "none",
  function: () => ({ text: TEXT, list: ["x", TEXT], [TEXT]: 1, mark: MARK }),
};
const secrets = ["MY_TOKEN"];

describe("what looks like a placeholder", () => {
  it("[security H1] stays text in the body of a request, beside a header that is filled", async () => {
    const call = {
      name: "call",
      type: "http",
      method: "POST",
      url: `${origin}/comments`,
      headers: { authorization: "Bearer {{ secrets.MY_TOKEN }}" },
      body: { comment: "{{ say.output.text }}", own: "key {{ secrets.MY_TOKEN }}" },
      secrets,
    };
    expect(await run([say, call])).toMatchObject({ status: "done" });
    expect(seen[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ comment: TEXT, own: `key ${SECRET}` });
  });

  it("[security H1 kin] stays text in address, query and headers", async () => {
    const call = {
      name: "call",
      type: "http",
      url: `${origin}/{{ say.output.text | urlencode }}`,
      query: { q: "{{ say.output.text }}" },
      headers: { "x-data": "{{ say.output.list[1] }}", "x-own": "{{ secrets.MY_TOKEN }}" },
      secrets,
    };
    expect(await run([say, call])).toMatchObject({ status: "done" });
    expect(seen[0]?.headers).toMatchObject({ "x-data": TEXT, "x-own": SECRET });
    expect(seen[0]?.url).not.toContain(SECRET);
  });

  it("[security H1 kin] stays text in arguments, variables and stdin of a program", async () => {
    const script = {
      name: "script",
      type: "script",
      command: "sh",
      args: ["-c", 'printf "%s|%s|" "$1" "$OWN" | wc -c; cat | wc -c; printf %s "$1"', "-", "{{ say.output.list[1] }}"],
      env: { OWN: "{{ secrets.MY_TOKEN }}" },
      stdin: "{{ say.output.text }}",
      secrets,
    };
    const expected = [String(TEXT.length + SECRET.length + 2), String(TEXT.length), TEXT].join("\n");
    const ended = await run([say, script]);
    expect(ended.output).toMatchObject({ script: { stdout: expected } });
  });

  it("[security H1 kin] stays text in the input of a function, keys of objects included", async () => {
    let given: unknown;
    const take = {
      name: "take",
      input: {
        all: "{{ say.output }}",
        own: "{{ secrets.MY_TOKEN }}",
        both: "{{ say.output.mark }}{{ secrets.MY_TOKEN }}",
      },
      function: (context: FunctionContext) => {
        given = structuredClone(context.input);
        return null;
      },
      secrets,
    };
    await run([say, take]);
    expect(given).toEqual({
      all: { text: TEXT, list: ["x", TEXT], [TEXT]: 1, mark: MARK },
      own: SECRET,
      both: `${MARK}${SECRET}`,
    });
  });

  it("[security H1 kin] stays text where it comes with the inputs of the task", async () => {
    let given: unknown;
    const take = {
      name: "take",
      input: { all: "{{ workflow.input.text }} {{ secrets.MY_TOKEN }}" },
      function: (context: FunctionContext) => {
        given = context.input["all"];
        return null;
      },
      secrets,
    };
    await run([take], { text: TEXT });
    expect(given).toBe(`${TEXT} ${SECRET}`);
  });

  it("[security H1 kin] stays text in the inputs of a nested workflow and in the texts of its steps", async () => {
    writeFileSync(
      join(folder, "inner.yaml"),
      `workflow: {name: inner, input: {text: {type: string}}}
steps:
  - name: send
    type: http
    url: "${origin}/inner"
    method: POST
    body: {data: "{{ workflow.input.text }}", own: "{{ secrets.MY_TOKEN }}"}
    secrets: [MY_TOKEN]
`,
    );
    writeFileSync(
      join(folder, "outer.yaml"),
      `workflow: {name: outer, input: {text: {type: string}}}
steps:
  - {name: inner, workflow: inner.yaml, input: {text: "{{ workflow.input.text }}"}}
`,
    );
    const splashdown = await openSplashdown({ store: "memory:", environment: environment() });
    await splashdown.run({ workflow: join(folder, "outer.yaml"), inputs: { text: TEXT } });
    await splashdown.close();
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ data: TEXT, own: SECRET });
  });

  it("[security H1 kin] that a set step has kept is data for the step after it", async () => {
    const keep = { name: "keep", value: "{{ secrets.MY_TOKEN }}", secrets };
    const call = {
      name: "call",
      type: "http",
      method: "POST",
      url: origin,
      body: { kept: "{{ keep.output }}" },
      secrets,
    };
    await run([keep, call]);
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ kept: "{{ secrets.MY_TOKEN }}" });
  });

  it("is refused where a filter would change it, as what is left could not be filled in", async () => {
    const call = { name: "call", type: "http", url: `${origin}/{{ secrets.MY_TOKEN | upper }}`, secrets };
    expect(await run([call])).toMatchObject({
      status: "failed",
      reason: expect.stringContaining("a template changes a secret") as string,
    });
    expect(seen).toEqual([]);
  });
});
