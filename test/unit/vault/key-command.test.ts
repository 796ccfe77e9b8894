import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import {
  proveCommand,
  unwrapByCommand,
  wrapByCommand,
  type KeyCommandResult,
  type KeyCommandRunner,
} from "../../../src/vault/key-command.js";
import { computeSlotLabel, type KeySourceSetting } from "../../../src/vault/key-source.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { createVaultRoom, KEY_SOURCE } from "../../support/vault-room.js";
import { createWrappingCommand } from "../../support/wrapping-command.js";

const argv = ["/usr/bin/wrap-key", "--safe"];
const context = { task: "t", slot: "s" };
const key = Buffer.alloc(32, 4);
const COMMAND: KeySourceSetting = { kind: "command", argv };

function answering(result: Partial<KeyCommandResult>): { argv: string[]; run: KeyCommandRunner } {
  return { argv, run: async () => ({ exitCode: 0, stdout: "", stderrTail: "", timedOut: false, ...result }) };
}

describe("key command", () => {
  it("is asked one JSON line per operation, with argv as it is and a time limit", async () => {
    const calls: unknown[] = [];
    const inner = createWrappingCommand();
    const run: KeyCommandRunner = async (call) => {
      calls.push({ ...call, input: JSON.parse(call.input) as unknown });
      expect(call.input.endsWith("}\n")).toBe(true);
      return inner(call);
    };
    const wrapped = await wrapByCommand({ argv, run }, key, context);
    expect(await unwrapByCommand({ argv, run }, wrapped, context)).toEqual(key);
    expect(calls).toEqual([
      { argv, timeoutMs: 30_000, input: { splashdown: 1, operation: "wrap", key: key.toString("base64"), context } },
      { argv, timeoutMs: 30_000, input: { splashdown: 1, operation: "unwrap", wrapped, context } },
    ]);
  });

  it.each<[string, Partial<KeyCommandResult>, string]>([
    ["does not answer in time", { timedOut: true }, "did not answer within 30000 ms"],
    ["says why not", { stdout: `{"error":"token expired"}`, exitCode: 3 }, "refused: token expired"],
    ["ends with another status", { exitCode: 2, stderrTail: "no such key\n" }, "exited with status 2: no such key"],
    ["is ended by a signal", { exitCode: undefined }, "was killed by a signal"],
    ["says nothing", { stdout: "" }, "answered something that is no JSON object"],
    ["says something else", { stdout: "[1]" }, "answered something that is no JSON object"],
    ["gives no wrapped text", { stdout: `{"wrapped":""}` }, `answered without "wrapped"`],
    [
      "gives a wrapped text too long",
      { stdout: JSON.stringify({ wrapped: "x".repeat(16_385) }) },
      `answered without "wrapped"`,
    ],
  ])("fails with its name when it %s", async (_name, result, message) => {
    const error = await refusalOf(() => wrapByCommand(answering(result), key, context));
    expect(error.code).toBe("KEY_SOURCE_INVALID");
    expect(error.message).toContain(`the key command /usr/bin/wrap-key ${message}`);
  });

  it.each([`{"key":5}`, `{"key":"AAAA"}`, `{"key":"${key.toString("base64")}="}`, `{}`])(
    "fails when the unwrapped key is %s",
    async (stdout) => {
      const error = await refusalOf(() => unwrapByCommand(answering({ stdout }), "w", context));
      expect(error.message).toContain(`answered without "key", base64 of 32 bytes`);
      expect(JSON.stringify(error)).not.toContain(key.toString("base64"));
    },
  );

  it("tells of a program that cannot be run, and lets a cancellation through", async () => {
    const failing = (error: Error) => ({
      argv,
      run: async () => {
        throw error;
      },
    });
    const error = await refusalOf(() => wrapByCommand(failing(new Error("spawn ENOENT")), key, context));
    expect([error.code, error.message]).toEqual([
      "KEY_SOURCE_INVALID",
      "the key command /usr/bin/wrap-key cannot be run: spawn ENOENT",
    ]);
    const cancelled = failing(new SplashdownError("CANCELLED", "stopped"));
    expect(await codeOfAsync(() => wrapByCommand(cancelled, key, context))).toBe("CANCELLED");
  });
});

describe("a key command that is only tried", () => {
  it("is sound when it gives back what it wrapped", async () => {
    await proveCommand({ argv, run: createWrappingCommand() }, key);
    const other = { argv, run: createWrappingCommand({ unwrapsTo: () => Buffer.alloc(32, 5) }) };
    const refusal = await refusalOf(() => proveCommand(other, key));
    expect([refusal.code, refusal.message]).toEqual([
      "KEY_SOURCE_INVALID",
      "the key command /usr/bin/wrap-key does not give back what it wrapped",
    ]);
  });

  it.each([
    [["/usr/bin/wrap-key", "--safe"], "wrap-key"],
    [["/usr/bin/node", "/home/ada/wrap.mjs", "--token", "x"], "node wrap.mjs"],
    [["python3", "-c", "secret code"], "python3"],
    [["sh"], "sh"],
  ])("%j is named by what runs, and by nothing that may be secret", (given, label) => {
    expect(computeSlotLabel({ kind: "command", argv: given })).toBe(label);
  });
});

describe("a task's key behind a key command", () => {
  it("never crosses to the command, in the clear or sealed", async () => {
    const seen: string[] = [];
    const room = createVaultRoom({ runCommand: createWrappingCommand({ seen }) });
    await room.create([COMMAND]);
    await room.open([COMMAND]);
    expect(seen.length).toBe(3);
    const stored = Buffer.from(room.store.objects.get("keyring-1.json") ?? []).toString();
    const wrap = /"wrap":"([\w-]+)"/.exec(stored)?.[1] ?? "";
    expect(wrap.length).toBe(64);
    for (const line of seen) expect(line).not.toContain(wrap);
  });

  it("is KEY_WRONG when the command gives another key, and a named failure when it fails", async () => {
    let mode: "other" | "fail" | "good" = "good";
    const runCommand = createWrappingCommand({
      unwrapsTo: (bytes) => (mode === "other" ? Buffer.alloc(32, 9) : bytes),
      result: (_request, normal) => (mode === "fail" ? { ...normal, exitCode: 1, stderrTail: "denied" } : normal),
    });
    const room = createVaultRoom({ runCommand });
    const vault = await room.create([COMMAND, KEY_SOURCE]);
    mode = "other";
    const wrong = await refusalOf(() => room.open([COMMAND]));
    expect(wrong.code).toBe("KEY_WRONG");
    expect(wrong.message).toContain("given was another command /usr/bin/wrap-key");
    mode = "fail";
    expect((await refusalOf(() => room.open([COMMAND]))).message).toContain("exited with status 1: denied");
    expect((await room.open([COMMAND, KEY_SOURCE])).keyId).toBe(vault.keyId);
  });

  it("needs a program to run", async () => {
    const room = createVaultRoom({ runCommand: createWrappingCommand() });
    const error = await refusalOf(() => room.create([{ kind: "command", argv: [] }]));
    expect([error.code, error.message]).toEqual(["KEY_SOURCE_INVALID", 'the key source "command " names no program']);
  });
});
