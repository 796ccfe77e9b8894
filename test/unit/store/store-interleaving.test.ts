/** Races between users of one folder, with every operation delayed at random: the orders that a quiet disk never shows. */
import { describe, expect, it } from "vitest";
import type { Store } from "../../../src/store/contract/contract.js";
import { CLAIM_CASES } from "../../conformance/store-log-cases.js";
import { OBJECT_CASES } from "../../conformance/store-object-cases.js";
import { TASK_CASES } from "../../conformance/store-place-cases.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { createSeededNumbers, createSeededRandom } from "../../support/seeded-random.js";
import { createModelStore } from "../../support/store-places.js";

const SEEDS = 40;
const RACES = [...TASK_CASES, ...CLAIM_CASES, ...OBJECT_CASES].filter(({ name }) =>
  /simultaneous|two creators|sees what the old owner|sweep in the middle/.test(name),
);

function createDelayedOpener(seed: number): () => Promise<Store> {
  const numbers = createSeededNumbers(seed);
  const delay = async () => {
    for (let turns = numbers.next(12); turns > 0; turns -= 1) await Promise.resolve();
  };
  const fileSystem = new FaultyFileSystem({ delay });
  let opened = 0;
  return async () =>
    createModelStore(fileSystem, { parts: { random: createSeededRandom(`${seed}/${(opened += 1)}`) } });
}

describe("DirectoryStore with interleaved users", () => {
  it("knows which cases are races", () => {
    expect(RACES).toHaveLength(5);
  });

  it.each(RACES)("$name", async ({ run }) => {
    const outcomes = [];
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const openAgain = createDelayedOpener(seed);
      const store = await openAgain();
      outcomes.push(await run({ store, openAgain }));
    }
    expect(outcomes).toHaveLength(SEEDS);
  });
});
