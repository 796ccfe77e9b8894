/** What an agent's words may have read and run: YAML and JSON below the root, and nothing by another way. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { openTalk, type McpTalk } from "../../support/mcp-talk.js";
import { openFolder } from "../../support/temporary-folder.js";
import type { McpServerOptions } from "../../../src/mcp/server.js";

const SECRET = "s3cret-of-another-project";

interface Place {
  readonly talk: McpTalk;
  readonly root: string;
  readonly write: (name: string, text: string) => void;
  readonly ran: () => boolean;
}

/** Where the modules of these tests leave word that they ran. */
const traces = globalThis as { ranOverMcp?: boolean };

async function openPlace(more: Partial<McpServerOptions> = {}): Promise<Place> {
  const folder = openFolder();
  const root = join(folder, "root");
  mkdirSync(join(root, "node_modules/x"), { recursive: true });
  mkdirSync(join(folder, "outside"));
  const write = (name: string, text: string): void => writeFileSync(join(root, name), text);
  write("../outside/out.yaml", `workflow: {name: out}\nsteps: [{name: a, type: set, value: ${SECRET}}]\n`);
  write("../outside/secret.txt", SECRET);
  const code = "globalThis.ranOverMcp = true; process.stdout.write('noise'); export default {};";
  for (const name of ["deploy.mjs", "deploy.js", "deploy.cjs", "deploy.ts", "node_modules/x/install.js"])
    write(name, code);
  traces.ranOverMcp = false;
  const environment = createEnvironment({ HOME: folder, SPLASHDOWN_KEY: Buffer.alloc(32, 7).toString("base64") }, root);
  const confine = { root, mayLoadModules: false };
  const splashdown = await openSplashdown({ store: "memory:", environment, confine });
  const talk = await openTalk(root, { splashdown, ...more });
  await talk.greet();
  return { talk, root, write, ran: () => traces.ranOverMcp === true };
}

const steps = (more: string): string => `workflow: {name: w}\nsteps:\n  - {name: a, ${more}}\n`;
const codeOf = (body: Record<string, unknown>): unknown => (body["error"] as { code?: unknown } | undefined)?.code;

describe("a module", () => {
  it("[security H5] is refused by validate_workflow, and not run", async () => {
    const { talk, ran } = await openPlace();
    const { isError, body } = await talk.call("validate_workflow", { file: "deploy.mjs" });
    expect(isError).toBe(true);
    expect(body["error"]).toMatchObject({
      code: "WORKFLOW_MODULE",
      hint: expect.stringContaining("--allow-modules") as string,
    });
    expect(ran()).toBe(false);
  });

  it("[security H5 kin] is refused whatever its name ends with, and behind a link that calls it YAML", async () => {
    const { talk, root, ran } = await openPlace();
    symlinkSync("deploy.mjs", join(root, "linked.yaml"));
    for (const file of ["deploy.js", "deploy.cjs", "deploy.ts", "node_modules/x/install.js", "linked.yaml"])
      expect(codeOf((await talk.call("validate_workflow", { file })).body), file).toBe("WORKFLOW_MODULE");
    expect(ran()).toBe(false);
  });

  it("[security H5 kin] is refused where a YAML file nests it", async () => {
    const { talk, write, ran } = await openPlace();
    write("nests.yaml", steps("workflow: deploy.mjs"));
    expect(codeOf((await talk.call("validate_workflow", { file: "nests.yaml" })).body)).toBe("WORKFLOW_MODULE");
    expect(ran()).toBe(false);
  });

  it("[security H5 kin] is not started by run_workflow either", async () => {
    const { talk, ran } = await openPlace();
    expect(codeOf((await talk.call("run_workflow", { file: "deploy.mjs" })).body)).toBe("WORKFLOW_MODULE");
    expect(ran()).toBe(false);
  });

  it("[kinds F7] that is allowed is loaded by another process, so that it cannot print between the messages", async () => {
    const asked: string[] = [];
    const checkModule = (file: string) => {
      asked.push(file);
      return Promise.resolve({ file, valid: true, exit_status: 0, faults: [], text: "fine" });
    };
    const { talk, root, ran } = await openPlace({ mayLoadModules: true, checkModule });
    const { isError, body } = await talk.call("validate_workflow", { file: "deploy.mjs" });
    expect([isError, body["result"]]).toMatchObject([false, { valid: true }]);
    expect(asked).toEqual([join(root, "deploy.mjs")]);
    expect(ran()).toBe(false);
    const { result } = await talk.request("tools/list");
    const tools = result?.["tools"] as { name: string; annotations: Record<string, unknown> }[];
    const validate = tools.find(({ name }) => name === "validate_workflow");
    expect(validate?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true, openWorldHint: true });
    for (const line of talk.lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });
});

describe("what lies outside of the root", () => {
  it("[security M7] is not read where a file in the root nests it", async () => {
    const { talk, write } = await openPlace();
    write("nested.yaml", steps("workflow: ../outside/out.yaml"));
    const { body } = await talk.call("validate_workflow", { file: "nested.yaml" });
    expect(codeOf(body)).toBe("WORKFLOW_OUTSIDE");
    expect(JSON.stringify(body)).not.toContain(SECRET);
  });

  it.each([
    ["[security M7 kin] an include by ..", "type: set, value: !file ../outside/secret.txt"],
    ["[security M7 kin] an include by a whole path", "type: set, value: !file /etc/hostname"],
    ["[security M7 kin] an include by a link", "type: set, value: !file link.txt"],
    ["[security M7 kin] the code of a function", "function: ../outside/f.mjs#f"],
    ["[security M7 kin] a nested workflow by a linked folder", "workflow: up/outside/out.yaml"],
    ["[security M7 kin] what an include includes", "type: set, value: !file inner.yaml"],
  ])("%s is not read", async (_title, more) => {
    const { talk, root, write } = await openPlace();
    symlinkSync("../outside/secret.txt", join(root, "link.txt"));
    symlinkSync("..", join(root, "up"));
    write("inner.yaml", "value: !file ../outside/secret.txt\n");
    write("w.yaml", steps(more));
    const { body } = await talk.call("validate_workflow", { file: "w.yaml" });
    expect(codeOf(body)).toBe("WORKFLOW_OUTSIDE");
    expect(JSON.stringify(body)).not.toContain(SECRET);
  });

  it("is told by the same words whether it is there or not", async () => {
    const { talk, write } = await openPlace();
    write("w.yaml", steps("type: set, value: !file ../outside/none.txt"));
    expect(codeOf((await talk.call("validate_workflow", { file: "w.yaml" })).body)).toBe("WORKFLOW_OUTSIDE");
  });

  it("is not what lies inside: nested files and includes below the root are read", async () => {
    const { talk, write } = await openPlace();
    write("inner.yaml", steps("type: set, value: 7"));
    write("text.md", "hello");
    write("w.yaml", `${steps("workflow: inner.yaml")}  - {name: b, type: set, value: !file text.md}\n`);
    const { body } = await talk.call("validate_workflow", { file: "w.yaml" });
    expect(body["result"]).toMatchObject({ valid: true });
  });
});

describe("a file that is no workflow", () => {
  it.each([
    ["[security M7 kin] config.json", "config.json", `{"auths": {"reg": {"auth": "${SECRET}"}}}`],
    ["[security M7 kin] broken JSON", "broken.json", `{"auth": "${SECRET}",,}`],
    ["[security M7 kin] YAML of another kind", "values.yaml", `password: ${SECRET}\n? [a\n`],
  ])("%s shows nothing of what it holds", async (_title, file, text) => {
    const { talk, write } = await openPlace();
    write(file, text);
    const { body } = await talk.call("validate_workflow", { file });
    expect(body["result"]).toMatchObject({ valid: false, text: expect.stringContaining("is no workflow") as string });
    expect(JSON.stringify(body)).not.toMatch(new RegExp(`${SECRET}|auths?"|password`));
  });

  it("shows nothing either where a workflow includes it; the workflow's own lines are shown", async () => {
    const { talk, write } = await openPlace();
    write("broken.yaml", `a: [${SECRET}\nb: {\n`);
    write(
      "w.yaml",
      "workflow: {name: w}\nsteps:\n  - {name: a, comand: [x]}\n  - {name: b, type: set, value: !file broken.yaml}\n",
    );
    const { body } = await talk.call("validate_workflow", { file: "w.yaml" });
    expect(JSON.stringify(body)).not.toContain(SECRET);
    write("own.yaml", "workflow: {name: w}\nsteps:\n  - {name: a, comand: [x]}\n");
    const own = await talk.call("validate_workflow", { file: "own.yaml" });
    expect(JSON.stringify(own.body)).toContain("| ");
    expect(JSON.stringify(own.body)).toContain("comand: [x]");
  });
});

describe("processes of one server", () => {
  it("[security L8] are bounded, and the bound is told by name", async () => {
    let begun = 0;
    const held: (() => void)[] = [];
    const start = () => {
      begun += 1;
      const ended = new Promise<void>((resolve) => held.push(resolve));
      return Promise.resolve({ task: `t${begun}`, pid: begun, ended });
    };
    const { talk, write } = await openPlace({ background: { start } });
    write("w.yaml", steps("type: set, value: 7"));
    const run = (key: number) => talk.call("run_workflow", { file: "w.yaml", key: `k${key}` });
    for (let key = 0; key < LIMITS.mcpProcessesMax; key += 1) await run(key);
    const { body } = await run(1_000);
    expect(codeOf(body)).toBe("PROCESSES_TOO_MANY");
    expect(begun).toBe(LIMITS.mcpProcessesMax);
    held[0]?.();
    await Promise.resolve();
    expect(codeOf((await run(1_001)).body)).not.toBe("PROCESSES_TOO_MANY");
    expect(begun).toBe(LIMITS.mcpProcessesMax + 1);
  });
});

describe("what tools say of themselves", () => {
  it("[reliability M02] is true of each: those that look, those that ask, those that run", async () => {
    const { talk } = await openPlace({ mayAnswer: true });
    const { result } = await talk.request("tools/list");
    const tools = result?.["tools"] as { name: string; annotations: Record<string, boolean> }[];
    const hintsOf = (name: string) => {
      const { readOnlyHint, destructiveHint, openWorldHint } =
        tools.find((tool) => tool.name === name)?.annotations ?? {};
      return { readOnlyHint, destructiveHint, openWorldHint };
    };
    const reads = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
    const asks = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
    const runs = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };
    for (const name of ["run_workflow", "resume_task"]) expect(hintsOf(name), name).toEqual(runs);
    for (const name of ["pause_task", "guide_task"]) expect(hintsOf(name), name).toEqual(asks);
    for (const name of ["list_tasks", "show_task", "task_result", "wait_for_task", "validate_workflow"])
      expect(hintsOf(name), name).toEqual(reads);
  });
});
