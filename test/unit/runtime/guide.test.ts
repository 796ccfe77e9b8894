/** `guide` on a task of this process: what is taken, what is refused, and in which words. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";
import { defineWorkflow, openSplashdown, type FunctionContext, type Splashdown } from "../../../src/index.js";
import { expectView } from "../../support/view-schemas.js";
import { createOwnEnvironment } from "../../support/own-environment.js";

async function open(): Promise<Splashdown> {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-guide-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const environment = createOwnEnvironment(folder, { USER: "ann" });
  const splashdown = await openSplashdown({ store: "memory:", environment });
  onTestFinished(() => splashdown.close());
  return splashdown;
}

/** a → b, of which `a` does what it is given and both tell what they heard. */
function flow(heard: Record<string, readonly string[]>, doA: () => unknown) {
  const tell = async (context: FunctionContext, name: string, act: () => unknown): Promise<null> => {
    await act();
    heard[name] = context.guidance;
    return null;
  };
  return defineWorkflow({
    workflow: { name: "told" },
    steps: [
      { name: "a", effects: "none", function: (context) => tell(context, "a", doA) },
      { name: "b", effects: "none", depends_on: ["a"], function: (context) => tell(context, "b", () => undefined) },
    ],
  });
}

describe("guide", () => {
  it("is taken by a task that runs, and heard by what begins afterwards", async () => {
    const splashdown = await open();
    const heard: Record<string, readonly string[]> = {};
    const guide = () => splashdown.guide({ task: "t", text: "  in euros\u0007 ", by: "bob" });
    const { status } = await splashdown.run({ task: "t", workflow: flow(heard, guide) });
    expect(status).toBe("done");
    expect(heard).toEqual({ a: [], b: ["in euros\\u0007"] });
    const view = await splashdown.show("t");
    expectView("show", view);
    expect(view.guidance).toMatchObject([{ text: "in euros\\u0007", by: "bob", taken: true, told: ["main/b@1.1"] }]);
    expect(view.decisions).toMatchObject([{ agent: "person:bob", type: "guidance_given" }]);
  });

  it("is kept for a task that is paused, and taken before its next step", async () => {
    const splashdown = await open();
    const heard: Record<string, readonly string[]> = {};
    const workflow = flow(heard, () => undefined);
    await splashdown.run({ task: "t", workflow, breakAt: ["b"] });
    const given = await splashdown.guide({ task: "t", text: "one", step: "b" });
    expectView("guide", given);
    expect(given).toMatchObject({ by: "ann", step: "main/b", taken: false });
    expect(given.command).toBe("run the program again that defined the workflow told");
    expect((await splashdown.show("t")).guidance).toMatchObject([{ text: "one", taken: false, told: [] }]);
    await splashdown.resume({ task: "t", workflow });
    expect(heard).toEqual({ a: [], b: ["one"] });
  });

  it("of a kind that a newer version left is told wherever one looks, holds nothing up, and is kept for that version", async () => {
    const splashdown = await open();
    const notices: string[] = [];
    splashdown.on("notice", ({ message }) => void notices.push(message));
    const workflow = flow({}, () => undefined);
    await splashdown.run({ task: "t", workflow, breakAt: ["b"] });
    const { stringify } = JSON;
    const newer = vi.spyOn(JSON, "stringify").mockImplementation((value: unknown, ...rest) => {
      const isGuidance = typeof value === "object" && value !== null && "kind" in value && value.kind === "guidance";
      return stringify(isGuidance ? { ...value, kind: "reprioritise" } : value, ...(rest as []));
    });
    await splashdown.guide({ task: "t", text: "one" });
    newer.mockRestore();
    const why = 'a message of the kind "reprioritise" by ann that this version of splashdown does not know';
    const unread = async () => (await splashdown.show("t")).unread;
    expect(await unread()).toEqual([expect.stringContaining(why)]);
    const { checks } = await splashdown.doctor({ tasks: true });
    expect(checks.find(({ name, ok }) => name === "t" && !ok)).toMatchObject({
      text: expect.stringContaining(why) as string,
      hint: "update splashdown, then try again",
    });
    const rotated = await splashdown.keys.rotate({ task: "t" }, { taskKey: true, reencrypt: true });
    expect(rotated).toMatchObject({ tasks: [{ task: "t", changed: true }] });
    expect(await splashdown.resume({ task: "t", workflow })).toMatchObject({ status: "done" });
    expect(notices.filter((notice) => notice.includes(why))).toHaveLength(1);
    expect(await unread()).toHaveLength(1);
  });

  it("is refused where it says nothing, too much, or of no step, and where nothing begins any more", async () => {
    const splashdown = await open();
    const workflow = flow({}, () => undefined);
    await splashdown.run({ task: "t", workflow, breakAt: ["b"] });
    const refusal = async (text: string, step?: string): Promise<string> => {
      const given = splashdown.guide({ task: "t", text, ...(step === undefined ? {} : { step }) });
      const error: unknown = await given.catch((thrown: unknown) => thrown);
      const { code, message } = error as { code: string; message: string };
      return `${code}: ${message}`;
    };
    expect(await refusal(" \n")).toBe("USAGE_INVALID: guidance needs a text");
    expect(await refusal("x".repeat(LIMITS.guidanceCharsMax + 1))).toContain(
      "of 8001 characters is over the limit of 8000",
    );
    expect(await refusal("x", "mian/b")).toBe(
      "USAGE_INVALID: --step mian/b: the workflow has no such step; did you mean main/b?",
    );
    expect((await splashdown.show("t")).guidance).toEqual([]);
    await splashdown.resume({ task: "t", workflow });
    expect(await refusal("too late")).toContain("TASK_NOT_RUNNING: task t cannot be given guidance: it is done");
  });
});
