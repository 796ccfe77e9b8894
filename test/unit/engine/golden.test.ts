import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decodeEvent, encodeEvent } from "../../../src/engine/model/event-codec.js";
import { evolve } from "../../../src/engine/fold/evolve.js";
import { createState } from "../../../src/engine/model/state.js";
import { hashState } from "../../../src/engine/model/state-codec.js";

interface GoldenRecord {
  readonly kind: string;
  readonly json: string;
}

/** One file per event schema: records of a run, and the hash of the state they fold to. */
const GOLDEN = ["events-schema-1.json"] as const;

describe("golden events", () => {
  it.each(GOLDEN)("E2: %s folds to its frozen state", (file) => {
    const text = readFileSync(new URL(`../../golden/engine/${file}`, import.meta.url), "utf8");
    const golden = JSON.parse(text) as { readonly records: readonly GoldenRecord[]; readonly hash: string };
    const state = createState();
    const types = new Set<string>();
    for (const { kind, json } of golden.records) {
      const event = decodeEvent(kind, json);
      types.add(event.type);
      evolve(state, event);
    }
    expect(types.size).toBeGreaterThan(20);
    expect(state.position).toBe(golden.records.length);
    expect(hashState(state)).toBe(golden.hash);
  });

  it("are written the same way today as long as the schema is the newest", () => {
    const text = readFileSync(new URL(`../../golden/engine/${GOLDEN.at(-1)}`, import.meta.url), "utf8");
    const { records } = JSON.parse(text) as { readonly records: readonly GoldenRecord[] };
    for (const { kind, json } of records) expect(encodeEvent(decodeEvent(kind, json))).toEqual({ kind, json });
  });
});
