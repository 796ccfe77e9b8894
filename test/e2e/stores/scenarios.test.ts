/**
 * The same stories on every store: what a task does, survives and refuses does not depend on where it is kept.
 *
 * The files are what all other tests run on, so in each run SQLite has all stories of a task and the others a few. The
 * long form, SPLASHDOWN_TEST_STORES=all or the names of some, tells all on each; `npm run proof -- stores` runs it and counts.
 */
import { afterAll, describe, expect, it } from "vitest";
import { DISK_STORIES } from "./disk-stories.js";
import { FAULT_STORIES } from "./fault-stories.js";
import { ROTATION_STORIES } from "./rotation-stories.js";
import {
  CACHED_KINDS,
  closeStores,
  openDiskPlace,
  openStorePlace,
  STORE_KINDS,
  type StoreKind,
} from "./store-places.js";
import type { Story } from "./story.js";
import { TASK_STORIES } from "./task-stories.js";

const WANTED = process.env["SPLASHDOWN_TEST_STORES"];
const IS_LONG = WANTED !== undefined;

function isTold({ isShort, needsSharing, needsDisk }: Story, { kind, isShared, hasLog }: StoreKind): boolean {
  if ((needsSharing === true && !isShared) || (needsDisk === "log" && hasLog !== true)) return false;
  return IS_LONG || isShort === true || kind === "sqlite";
}

afterAll(closeStores);

const isWanted = ({ kind }: StoreKind): boolean => WANTED === "all" || WANTED?.split(",").includes(kind) === true;
const kinds = IS_LONG
  ? [...STORE_KINDS, ...CACHED_KINDS].filter(isWanted)
  : STORE_KINDS.filter(({ kind }) => kind !== "file");
const stories = IS_LONG ? [...TASK_STORIES, ...FAULT_STORIES, ...ROTATION_STORIES, ...DISK_STORIES] : TASK_STORIES;

describe.each(kinds)("on $kind", (store) => {
  it.for(stories.filter((story) => isTold(story, store)).map((story) => [story.title, story] as const))(
    "%s",
    async ([, { tell, needsDisk }], context) => {
      const place = needsDisk === undefined ? await openStorePlace(store) : await openDiskPlace(store, needsDisk);
      if (place === undefined) return context.skip("a small file system cannot be mounted here");
      await expect(tell(place, store)).resolves.toBeUndefined();
    },
  );
});
