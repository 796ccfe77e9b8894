import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../../src/base/json.js";
import { LIMITS } from "../../../../src/base/limits.js";
import type { BlobRef } from "../../../../src/engine/model/value-ref.js";
import { findValueFault, isSmall } from "../../../../src/engine/runner/value-size.js";
import { LargeValues } from "../../../../src/engine/runner/values.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { machine, model, parallel, set, workflow } from "../../../support/workflow-builder.js";

const LARGE = "x".repeat(LIMITS.blobThresholdBytes);

/** A shelf in memory that counts what is read. */
function createShelf() {
  const stored = new Map<string, JsonValue>();
  const reads: string[] = [];
  return {
    reads,
    put: (value: JsonValue): Promise<BlobRef> => {
      const key = `blobs/${stored.size}`;
      stored.set(key, value);
      return Promise.resolve({ key, sizeBytes: JSON.stringify(value).length, digest: key });
    },
    get: ({ key }: BlobRef): Promise<JsonValue> => {
      reads.push(key);
      return Promise.resolve(stored.get(key) ?? null);
    },
  };
}

describe("value size", () => {
  it.each<[string, JsonValue, boolean]>([
    ["a text just under", "x".repeat(LIMITS.blobThresholdBytes - 3), true],
    ["a text of the threshold", "x".repeat(LIMITS.blobThresholdBytes - 2), false],
    ["a text that is short in characters and long in bytes", "漢".repeat(100_000), false],
    ["many small members", Array.from({ length: 40_000 }, () => "abcdefgh"), false],
    ["many keys", Object.fromEntries(Array.from({ length: 20_000 }, (_unused, at) => [`key-${at}`, at])), false],
    ["an ordinary object", { a: [1, 2, { b: null }] }, true],
  ])("tells %s", (_name, value, small) => {
    expect(isSmall(value)).toBe(small);
  });

  it("does not follow a value deeper than asked, however deep it is", () => {
    let deep: JsonValue = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(findValueFault(deep, { bytesMax: 1e9, depthMax: 200 })).toBe("VALUE_TOO_DEEP");
    expect(isSmall(deep)).toBe(false);
    expect(findValueFault([[[1]]], { bytesMax: 100, depthMax: 3 })).toBeUndefined();
    expect(findValueFault([[[1]]], { bytesMax: 100, depthMax: 2 })).toBe("VALUE_TOO_DEEP");
  });
});

describe("large values", () => {
  it("are read once while they fit at hand", async () => {
    const shelf = createShelf();
    const values = new LargeValues(shelf);
    const ref = await shelf.put(LARGE);
    expect(values.peek(ref)).toBeUndefined();
    expect(await values.load(ref)).toBe(LARGE);
    expect(await values.resolve({ blob: ref })).toBe(LARGE);
    expect(values.peek(ref)).toBe(LARGE);
    expect(shelf.reads).toEqual([ref.key]);
  });

  it("give way to newer ones by their bytes", async () => {
    const shelf = createShelf();
    const values = new LargeValues(shelf);
    const quarter = "x".repeat(LIMITS.blobCacheBytesMax / 4);
    const refs = [];
    for (let at = 0; at < 5; at += 1) refs.push(await values.store(`${at}${quarter}`));
    const kept = refs.map((ref) => "blob" in ref && values.peek(ref.blob) !== undefined);
    expect(kept).toEqual([false, false, true, true, true]);
  });

  it("are on the shelf before the record that names them", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])));
    await room.start();
    await room.finish("a", LARGE);
    expect(room.trace.indexOf("put blobs/1-1")).toBeLessThan(room.trace.indexOf("append step_completed"));
    expect(room.of("step_completed")[0]?.output).toMatchObject({ blob: { key: "blobs/1-1" } });
    expect(JSON.stringify(room.log.appended).length).toBeLessThan(20_000);
    expect(room.output).toBe(LARGE);
  });

  it("are loaded when a choice needs them, and handed to the step that uses them", async () => {
    const a = model("a", { routes: [{ to: "b", when: "a.output.text | length > 9" }] });
    const b = model("b", { prompt: "{{ a.output.text | length }}" });
    const room = new RunnerRoom(workflow(machine("main", [a, b])));
    await room.start();
    await room.finish("a", { text: LARGE });
    expect(room.performer.of("b").work.rendered).toMatchObject({ prompt: String(LARGE.length) });
    const next = room.crash();
    await next.resume();
    expect(next.performer.of("b").work.rendered).toMatchObject({ prompt: String(LARGE.length) });
    await next.finish("b", 1);
    expect(next.closed.end).toBe("done");
  });

  it("may be needed in greater number than are kept at hand", async () => {
    const names = Array.from({ length: 70 }, (_unused, at) => `s${at}`);
    const room = new RunnerRoom(
      workflow(
        parallel(
          "main",
          names.map((name) => model(name)),
        ),
      ),
    );
    await room.start();
    const quarter = "x".repeat(LIMITS.blobCacheBytesMax / 64);
    for (const name of names) room.performer.of(name).end({ status: "completed", output: quarter });
    await room.flush();
    await room.drive();
    expect(room.closed.end).toBe("done");
    expect(Object.keys(room.output as object)).toHaveLength(70);
  });

  it("reach reports, partial outputs and the work of a step as well", async () => {
    const room = new RunnerRoom(
      workflow(
        machine("main", [set("big", { value: LARGE, routes: [{ to: "a" }] }), model("a", { prompt: `${LARGE}!` })]),
      ),
    );
    await room.start();
    await room.finish("big", LARGE);
    expect(room.of("step_intended").map((event) => "blob" in event.work)).toEqual([true, true]);
    expect(room.performer.of("a").work.rendered["prompt"]).toBe(`${LARGE}!`);
    const { sink } = room.performer.of("a");
    await sink.turn(LARGE);
    await sink.milestone("m", LARGE);
    sink.progress({ partial: LARGE });
    await room.flush();
    expect(room.of("turn_recorded")[0]?.value).toHaveProperty("blob");
    expect(room.of("milestone_reached")[0]?.state).toHaveProperty("blob");
    expect(room.of("progress_reported")[0]?.partial).toHaveProperty("blob");
    const next = room.crash();
    await next.resume();
    expect(next.performer.of("a").work).toMatchObject({ turns: [LARGE], milestone: { name: "m", state: LARGE } });
  });
});
