/**
 * The same stories on every store: what a task does, survives and refuses does not depend on where it is kept.
 *
 * The files are what all other tests run on, so in each run SQLite has all stories of a task and the others a few. The
 * long form, SPLASHDOWN_TEST_STORES=all, tells all on each store; `node scripts/stores.mjs` runs it and counts.
 */
import { afterAll, describe, expect, it } from "vitest";
import { FAULT_STORIES } from "./fault-stories.js";
import { CACHED_KINDS, closeStores, openStorePlace, STORE_KINDS, type StoreKind } from "./store-places.js";
import type { Story } from "./story.js";
import { TASK_STORIES } from "./task-stories.js";

const IS_LONG = process.env["SPLASHDOWN_TEST_STORES"] === "all";

function isTold({ isShort, needsSharing }: Story, { kind, isShared }: StoreKind): boolean {
  if (needsSharing === true && !isShared) return false;
  return IS_LONG || isShort === true || kind === "sqlite";
}

afterAll(closeStores);

const kinds = IS_LONG ? [...STORE_KINDS, ...CACHED_KINDS] : STORE_KINDS.filter(({ kind }) => kind !== "file");
const stories = IS_LONG ? [...TASK_STORIES, ...FAULT_STORIES] : TASK_STORIES;

describe.each(kinds)("on $kind", (store) => {
  it.each(stories.filter((story) => isTold(story, store)).map((story) => [story.title, story] as const))(
    "%s",
    async (_title, { tell }) => {
      await expect(tell(await openStorePlace(store), store)).resolves.toBeUndefined();
    },
  );
});
