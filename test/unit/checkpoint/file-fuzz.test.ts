import { createHash } from "node:crypto";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { readLayout } from "../../../src/checkpoint/format/layout.js";
import { createTimeSlicer, WITHOUT_PAUSES } from "../../../src/checkpoint/format/time-slicer.js";
import { decodePayload } from "../../../src/checkpoint/format/payload.js";
import { openText } from "../../../src/checkpoint/format/sealed-payload.js";
import { encodeSnapshot } from "../../../src/checkpoint/format/writer.js";
import { hashState } from "../../../src/engine/model/state-codec.js";
import type { TaskState } from "../../../src/engine/model/state.js";
import type { TaskVault } from "../../../src/vault/contract.js";
import {
  createCheckpointRoom,
  createStep,
  createTaskState,
  positionOf,
  RAW_BYTES_MAX,
  takeCheckpoint,
} from "../../support/checkpoint-room.js";
import { codeOfAsync } from "../../support/error-code.js";
import { createTestVault } from "../../support/journal-room.js";
import { noteTried, runsOf } from "../../support/tried.js";

const SEED = 20_240_102;

let vault: TaskVault;
let original: Buffer;

async function encode(state: TaskState): Promise<Buffer> {
  const { writer } = await createCheckpointRoom(vault);
  const taken = takeCheckpoint(state);
  const how = { options: writer, pace: createTimeSlicer(writer.clock, writer.breathe) };
  return (await encodeSnapshot(taken, { position: positionOf(taken.position), prev: undefined }, how)).bytes;
}

async function read(bytes: Uint8Array): Promise<TaskState> {
  const layout = await readLayout(bytes, RAW_BYTES_MAX, WITHOUT_PAUSES);
  return decodePayload(await openText({ layout, vault, pace: WITHOUT_PAUSES }), layout.header);
}

function repair(bytes: Buffer): Buffer {
  const end = bytes.length - 77;
  if (end <= 0) return bytes;
  const sum = createHash("sha256").update(bytes.subarray(0, end)).digest("hex");
  return Buffer.concat([bytes.subarray(0, end), Buffer.from(`"sha256":"${sum}"}\n`)]);
}

beforeAll(async () => {
  vault = createTestVault("fuzz");
  original = await encode(createTaskState());
});

describe("a snapshot file", () => {
  it("C1: is read only as it was written, whatever is cut, put in, moved or repaired", async (context) => {
    noteTried(context, runsOf(3000));
    const edit = fc.record({
      at: fc.nat(3000),
      length: fc.nat(80),
      put: fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        fc.constantFrom(...["\n", '"', "{", "=", "\\u0000", "AAAA"].map((text) => new Uint8Array(Buffer.from(text)))),
      ),
      from: fc.option(fc.nat(3000)),
    });
    const change = (
      bytes: Buffer,
      { at, length, put, from }: { at: number; length: number; put: Uint8Array; from: number | null },
    ): Buffer => {
      const middle = from === null ? put : bytes.subarray(from, from + length);
      return Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(at + length)]);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), fc.boolean(), async (edits, repaired) => {
        const changed = edits.reduce(change, original);
        const bytes = repaired ? repair(changed) : changed;
        const code = await codeOfAsync(() => read(bytes));
        expect(code === "none").toBe(bytes.equals(original));
        expect(code).not.toMatch(/foreign|INTERNAL/);
      }),
      { numRuns: runsOf(3000), seed: SEED },
    );
  });

  it("gives back any values exactly", async (context) => {
    noteTried(context, runsOf(200));
    const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { maxLength: 5 }),
        fc.dictionary(fc.string(), value),
        async (outputs, channel) => {
          const state = createTaskState();
          outputs.forEach((output, at) => {
            const step = createStep(at, { output: { inline: output } });
            state.steps.set(step.id, step);
            state.outputs.set(step.path, { value: step.output ?? { inline: null }, by: step.id });
          });
          for (const [key, item] of Object.entries(channel)) state.channel.set(key, item);
          const bytes = await encode(state);
          const loaded = await read(bytes);
          expect(hashState(loaded)).toBe(hashState(state));
          expect([...loaded.channel]).toEqual([...state.channel]);
        },
      ),
      { numRuns: runsOf(200), seed: SEED },
    );
  });
});
