/**
 * What the programs themselves printed, asked by proof/installed-agents.mjs's server: claude 2.1.332, codex 0.171.0,
 * gemini 0.61.0, copilot 1.0.102. Folders are renamed, long lists cut, and of copilot's lines the passing ones left out.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPerformerRoom, type PerformerRoom } from "../../../support/performer-room.js";
import { createRecordingSink } from "../../../support/recording-sink.js";
import { createStepWork } from "../../../support/step-work.js";

let folder: string;
let room: PerformerRoom;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "splashdown-recorded-"));
});
afterEach(async () => {
  await room.close();
  await rm(folder, { recursive: true });
});

/** Takes a prompt, prints a recording and ends with a status. */
async function replay(recording: string, exitCode: number) {
  const cli = recording.split("-")[0] ?? "";
  const file = path.join(import.meta.dirname, "recordings", `${recording}.jsonl`);
  const command = ["sh", "-c", `cat > "$0.heard"; cat "$1"; exit ${exitCode}`, path.join(folder, "x"), file];
  room = openPerformerRoom({ cliAgents: { [cli]: { command } }, environment: { PATH: "/usr/bin:/bin" } });
  const sink = createRecordingSink();
  const outputSchema = { type: "object", properties: { verdict: { type: "string" } }, required: ["verdict"] };
  const work = createStepWork("cli", {
    workflowFolder: folder,
    definition: { cli, outputSchema },
    rendered: { cli, prompt: "Is a.mjs right?", arguments: [], environment: {} },
  });
  const outcome = await room.perform(work, { sink });
  const told = sink.of("milestone").map(([, state]) => (state as { session: string }).session);
  return { outcome, sessions: [...new Set(told)] };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const COUNTED = { tokensIn: 200, tokensOut: 40 };

describe("a recorded answer", () => {
  it.each([
    { recording: "claude-answer", usage: { calls: 2, ...COUNTED, costMicroUsd: 1600 } },
    { recording: "codex-answer", usage: { calls: 1, ...COUNTED } },
    // Its first stream was cut: an error that it mended by itself.
    { recording: "codex-reconnected", usage: { calls: 1, ...COUNTED } },
    { recording: "gemini-answer", usage: { calls: 1, ...COUNTED } },
    { recording: "copilot-answer", usage: { calls: 2, tokensIn: 0, tokensOut: 0 } },
  ])("of $recording is read: text, usage and session", async ({ recording, usage }) => {
    const { outcome, sessions } = await replay(recording, 0);
    expect(outcome).toMatchObject({ status: "completed", output: { verdict: "bad", why: "it subtracts" } });
    expect(outcome).toHaveProperty("usage", usage);
    expect(sessions).toEqual([expect.stringMatching(UUID)]);
  });
});

describe("a recorded refusal", () => {
  it.each(["claude", "codex", "gemini", "copilot"])(
    "of %s for the key is not tried again, and says why",
    async (cli) => {
      const { outcome } = await replay(`${cli}-refused`, 1);
      expect(outcome).toMatchObject({
        status: "failed",
        error: {
          code: "STEP_FAILED",
          retryable: false,
          message: expect.stringContaining(cli === "copilot" ? "Check your COPILOT_PROVIDER_API_KEY" : "401") as string,
          details: { cli, status: 401 },
        },
      });
    },
  );

  it.each(["claude", "codex", "gemini", "copilot"])("of %s for too many calls asks to wait", async (cli) => {
    const { outcome } = await replay(`${cli}-limited`, 1);
    expect(outcome).toMatchObject({ status: "failed", error: { code: "MODEL_RATE_LIMITED", details: { cli } } });
  });
});
