import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPerformerRoom, type PerformerRoom } from "../../../support/performer-room.js";
import { createRecordingSink } from "../../../support/recording-sink.js";
import { createStepWork, type WorkParts } from "../../../support/step-work.js";
import type { CliAgentSettings } from "../../../../src/agents/outcome/contract.js";

const STAND_IN = path.join(import.meta.dirname, "../../../../examples/agent-review/stand-in.mjs");
const AGENTS = ["claude", "codex", "gemini", "copilot"] as const;
type Agent = (typeof AGENTS)[number];

let folder: string;
let room: PerformerRoom;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "splashdown-cli-"));
});
afterEach(async () => {
  await room.close();
  await rm(folder, { recursive: true });
});

const GOES_ON = {
  claude: /--resume earlier/,
  codex: / resume earlier -$/,
  gemini: /--resume earlier/,
  copilot: /--session-id earlier/,
};
/** Made of the key of the step, so that an attempt that never told it is found again. */
const CHOSEN_SESSION = "be297454-6978-8e37-839e-6d6da85c4be9";

/** The second iteration of a specialist. */
const ITERATED: WorkParts = {
  definition: { briefingTokensMax: 1000 },
  phase: { number: 1, name: "review", iteration: 2, description: "the rules of review" },
  feedback: ["name the line"],
};

interface Called {
  readonly args: readonly string[];
  readonly prompt: string;
  readonly given: Readonly<Record<string, string>>;
}

interface Options {
  readonly rendered?: object;
  readonly settings?: CliAgentSettings;
  readonly parts?: WorkParts;
  readonly environment?: Readonly<Record<string, string>>;
}

async function call(cli: Agent, prompt: string, { rendered, settings, parts, environment }: Options = {}) {
  room = openPerformerRoom({
    cliAgents: { [cli]: { command: [process.execPath, STAND_IN, cli], ...settings } },
    environment: { PATH: "/usr/bin:/bin", HOME: folder, ...environment },
  });
  const sink = createRecordingSink();
  const { definition, ...rest } = parts ?? {};
  const work = createStepWork("cli", {
    workflowFolder: folder,
    definition: { cli, ...definition },
    rendered: { cli, prompt, arguments: [], environment: { CALLS: path.join(folder, "calls") }, ...rendered },
    ...rest,
  });
  const outcome = await room.perform(work, { sink });
  return { outcome, sink };
}

const calls = async () =>
  (await readFile(path.join(folder, "calls"), "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Called);

describe.each(AGENTS)("the agent %s", (cli) => {
  it("gives its final text, its usage and its session, and tells its progress", async () => {
    const { outcome, sink } = await call(cli, "review this");
    const tokens = cli === "copilot" ? { tokensIn: 0, tokensOut: 50 } : { tokensIn: 1210, tokensOut: 50 };
    expect(outcome).toMatchObject({
      status: "completed",
      output: { result: "answer to: review this" },
      usage: { ...tokens, ...(cli === "claude" ? { calls: 3, costMicroUsd: 12_346 } : {}) },
    });
    if (cli !== "claude" && outcome.status === "completed") expect(outcome.usage).not.toHaveProperty("costMicroUsd");
    const session = cli === "copilot" ? CHOSEN_SESSION : `${cli}-session-1`;
    const counted = { cli, session, tokens_in: 1210, tokens_out: 50 };
    expect(sink.of("milestone")).toEqual([
      ["session", { cli, session }],
      ...(cli === "codex" ? [["session", counted]] : []),
    ]);
    expect(sink.of("progress")).toContainEqual([{ message: "reading the files" }]);
    expect(sink.of("spawned")).toHaveLength(1);
  });

  it("goes on in its session after a failure or a crash, and is told so", async () => {
    const milestone = { name: "session", state: { cli, session: "earlier" } };
    const { outcome, sink } = await call(cli, "review this", { parts: { milestone } });
    expect(outcome).toMatchObject({ status: "completed", output: { result: "answer to: review this" } });
    const [{ args, prompt } = { args: [], prompt: "" }] = await calls();
    expect(args.join(" ")).toMatch(GOES_ON[cli]);
    expect(prompt).toContain("You were interrupted");
    expect(sink.of("milestone").map(([, state]) => state)).toEqual(
      cli === "codex" ? [{ cli, session: "earlier", tokens_in: 1210, tokens_out: 50 }] : [],
    );
  });

  it("goes on in the session of the visit before, keeps it for this one, and is told what is new", async () => {
    const parts = { ...ITERATED, earlierMilestone: { name: "session", state: { cli, session: "earlier" } } };
    const { sink } = await call(cli, "review this", { parts });
    const [{ args, prompt } = { args: [], prompt: "" }] = await calls();
    expect(args.join(" ")).toMatch(GOES_ON[cli]);
    expect(prompt).toContain("name the line");
    expect(prompt).not.toContain("You were interrupted");
    // It would begin a lost session without a word.
    expect(prompt.includes("the rules of review")).toBe(cli === "copilot");
    expect(sink.of("milestone")[0]).toEqual(["session", { cli, session: "earlier" }]);
  });

  it("is told all of it in another session where the one it had is gone, and says so", async () => {
    const milestone = { name: "session", state: { cli, session: "earlier" } };
    const environment = { LOST: "yes", CALLS: path.join(folder, "calls") };
    const parts = { ...ITERATED, earlierMilestone: milestone };
    const { outcome, sink } = await call(cli, "review this", { parts, rendered: { environment } });
    expect(outcome).toMatchObject({ status: "completed", output: { result: "answer to: review this" } });
    const told = await calls();
    expect(told.at(-1)?.prompt).toContain("the rules of review");
    if (cli === "copilot") return;
    expect(told.map(({ args }) => GOES_ON[cli].test(args.join(" ")))).toEqual([true, false]);
    expect(sink.of("spawned")).toHaveLength(2);
    expect(sink.of("milestone").at(-1)?.[1]).toMatchObject({ session: `${cli}-session-1` });
    const factors = outcome.status === "completed" ? outcome.factors : [];
    expect(factors?.at(-1)).toBe(`the session earlier of ${cli} is gone: it was given everything again in another one`);
  });

  it("begins anew where the session is another agent's", async () => {
    await call(cli, "review this", {
      parts: { milestone: { name: "session", state: { cli: "other", session: "x" } } },
    });
    expect((await calls())[0]?.args).not.toContain("x");
  });

  it("is given model, words and the arguments of the settings and the step, and only its variables", async () => {
    const variable = {
      claude: "ANTHROPIC_API_KEY",
      codex: "CODEX_API_KEY",
      gemini: "GEMINI_API_KEY",
      copilot: "GH_TOKEN",
    };
    await call(cli, "review this", {
      rendered: { model: "large", system_prompt: "be brief", arguments: ["--step"] },
      settings: { arguments: ["--mine"] },
      environment: { [variable[cli]]: "k-1", OTHER_KEY: "k-2" },
    });
    const [{ args, prompt, given } = { args: [], prompt: "", given: {} }] = await calls();
    expect(args.join(" ")).toMatch(/--model large .*--mine --step/);
    expect(args.join(" ") + prompt).toContain("be brief");
    expect(given).toEqual({ [variable[cli]]: "k-1", SPLASHDOWN_IDEMPOTENCY_KEY: "key-1" });
  });

  it("as a specialist of a phase is briefed, and says how sure it is in four parts", async () => {
    const parts: WorkParts = {
      definition: { briefingTokensMax: 1000 },
      phase: { number: 1, name: "review", iteration: 2 },
      outputs: { earlier: { result: "what was found before" } },
      feedback: ["name the line"],
    };
    const { outcome } = await call(cli, "review this", { parts });
    expect(outcome).toMatchObject({
      status: "completed",
      output: { result: "answer to: review this" },
      confidence: { knowledge: 0.9, information: 0.8, implementation: 0.9, validation: 0.8 },
      factors: ["the file was read"],
      uncertainties: cli === "codex" ? ["who calls it"] : [],
    });
    const [{ args, prompt } = { args: [], prompt: "" }] = await calls();
    for (const words of ["what was found before", "name the line", "# How to answer"]) expect(prompt).toContain(words);
    expect(args.join(" ")).not.toContain("review this");
  });

  it("can be told of more than an argument of a program may hold", async () => {
    const parts: WorkParts = {
      definition: { briefingTokensMax: 100_000 },
      outputs: { earlier: { result: "€".repeat(120_000) } },
    };
    const { outcome } = await call(cli, "review this", { parts });
    expect(outcome).toMatchObject({ status: "completed", output: { result: "answer to: review this" } });
    const [{ args, prompt } = { args: [], prompt: "" }] = await calls();
    expect(prompt).not.toContain("parts are missing here");
    expect(args.join("").length).toBeLessThan(1000);
  });

  it("that is briefed and gives its result alone is taken at its word, and unsure", async () => {
    const definition = { briefingTokensMax: 1000 };
    const { outcome } = await call(cli, "say no more", { parts: { definition } });
    expect(outcome).toMatchObject({
      status: "completed",
      output: { result: "answer to: say no more" },
      uncertainties: ["the model did not say how sure it is"],
    });
    expect(outcome).not.toHaveProperty("confidence");
    expect(await calls()).toHaveLength(1);
  });

  it("may give the declared output in a fence", async () => {
    const outputSchema = { type: "object", properties: { score: { type: "number" } }, required: ["score"] };
    const good = await call(cli, "json", { parts: { definition: { outputSchema } } });
    expect(good.outcome).toMatchObject({ status: "completed", output: { score: 7 } });
    await room.close();
    const bad = await call(cli, "words", { parts: { definition: { outputSchema } } });
    expect(bad.outcome).toMatchObject({ status: "failed", error: { code: "STEP_OUTPUT_INVALID" } });
  });

  it("fails with what it says, its usage counted", async () => {
    const { outcome } = await call(cli, "fail");
    expect(outcome).toMatchObject({ status: "failed", error: { code: "STEP_FAILED" } });
    expect(outcome).toHaveProperty("usage.calls", cli === "claude" ? 3 : 1);
    if (cli === "claude") expect(outcome).toHaveProperty("usage.costMicroUsd", 12_346);
    const message = outcome.status === "failed" ? outcome.error.message : "";
    expect(message).toContain("the model refused");
  });

  it("fails where it ends without a word", async () => {
    const { outcome } = await call(cli, "mute");
    const spoke = cli === "gemini" || cli === "copilot";
    if (spoke) expect(outcome).toMatchObject({ status: "completed", output: { result: "reading the files" } });
    else expect(outcome).toMatchObject({ status: "failed", error: { code: "STEP_OUTPUT_INVALID" } });
  });
});

describe("an agent that tells the tokens of its whole session", () => {
  it("has those of an earlier attempt counted once", async () => {
    const outputSchema = { type: "object", properties: { score: { type: "number" } }, required: ["score"] };
    const first = await call("codex", "words", { parts: { definition: { outputSchema } } });
    expect(first.outcome).toMatchObject({ status: "failed", usage: { tokensIn: 1210, tokensOut: 50 } });
    const state = { cli: "codex", session: "codex-session-1", tokens_in: 1210, tokens_out: 50 };
    expect(first.sink.of("milestone").at(-1)).toEqual(["session", state]);
    await room.close();
    const milestone = { name: "session", state: { ...state, tokens_in: 1000, tokens_out: 20 } };
    const { outcome } = await call("codex", "review this", { parts: { milestone } });
    expect(outcome).toMatchObject({ status: "completed", usage: { tokensIn: 210, tokensOut: 30 } });
  });

  it("has those of an earlier visit counted once, also by an attempt after it was interrupted", async () => {
    const earlierMilestone = {
      name: "session",
      state: { cli: "codex", session: "s", tokens_in: 1000, tokens_out: 20 },
    };
    const { outcome, sink } = await call("codex", "review this", { parts: { earlierMilestone } });
    expect(outcome).toMatchObject({ status: "completed", usage: { tokensIn: 210, tokensOut: 30 } });
    const kept = sink.of("milestone").map(([, state]) => state);
    expect(kept).toEqual([earlierMilestone.state, { ...earlierMilestone.state, tokens_in: 1210, tokens_out: 50 }]);
  });
});

describe("an agent", () => {
  it("FAULTS 1: whose account is used up asks to wait until the time it says", async () => {
    const { outcome } = await call("claude", "limit");
    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "MODEL_RATE_LIMITED", retryAtMs: 4_102_444_800_000 },
    });
  });

  it("that nobody knows is named with those that are known", async () => {
    room = openPerformerRoom();
    const outcome = await room.perform(
      createStepWork("cli", { definition: { cli: "cladue" }, rendered: { prompt: "x" } }),
    );
    expect(outcome).toMatchObject({
      status: "failed",
      error: {
        code: "PROGRAM_NOT_FOUND",
        message: expect.stringContaining("claude, codex, gemini, copilot") as string,
      },
    });
  });

  it("that is not installed is named", async () => {
    room = openPerformerRoom({ environment: { PATH: folder } });
    const outcome = await room.perform(
      createStepWork("cli", { workflowFolder: folder, definition: { cli: "codex" }, rendered: { prompt: "x" } }),
    );
    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "PROGRAM_NOT_FOUND", message: expect.stringContaining('"codex"') as string },
    });
  });
});
