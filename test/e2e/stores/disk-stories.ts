/** What befalls a task whose store lies on a disk that fills up. */
import { expect } from "vitest";
import type { RunView } from "../../../src/runtime/contract.js";
import type { CommandResult } from "../../support/built-program.js";
import { writeFilling } from "../../support/filling-workflow.js";
import type { StorePlace } from "./store-places.js";
import type { Story } from "./story.js";
import { show } from "./task-stories.js";

const NAMES = Array.from({ length: 24 }, (_each, index) => `step_${index + 1}`);
const LEFT_KIB = 1_500;

/** What a run says of its end, in its view or, where not even the end could be recorded, as an error. */
const saidBy = ({ stdout, stderr }: CommandResult): string => `${stdout}${stderr}`;

/** Fills the disk in the middle of a run that must end by `code`; what had acted until then. */
async function fill(place: StorePlace, code: RegExp): Promise<readonly string[]> {
  const file = writeFilling(place, { count: NAMES.length, ledger: `${place.folder}/ledger` });
  expect((await place.run(["doctor"])).code).toBe(0);
  place.disk.leave(LEFT_KIB);
  const full = await place.run(["run", file, "--task", "t", "--json"]);
  expect([full.code, saidBy(full)]).toEqual([4, expect.stringMatching(code)]);
  const begun = place.ledger();
  expect(begun.length).toBeGreaterThan(1);
  expect(begun.length).toBeLessThan(NAMES.length);
  return begun;
}

/** All that had acted is known, but for the end of the last one. */
async function expectKept(place: StorePlace, begun: readonly string[]): Promise<void> {
  const { steps, damage } = await show(place);
  expect(damage).toEqual([]);
  expect(steps.filter(({ status }) => status === "completed").length).toBeGreaterThanOrEqual(begun.length - 1);
}

/** Goes on to the end; an outcome that could not be recorded any more is asked about, and done again. */
async function goOn(place: StorePlace, begun: readonly string[]): Promise<void> {
  const resumed = await place.run(["resume", "t", "--json"]);
  const again = resumed.code === 22 ? 1 : 0;
  if (again === 1) expect((await place.run(["answer", "t", "rerun"])).code).toBe(0);
  const last = again === 1 ? await place.run(["resume", "t", "--json"]) : resumed;
  expect(last.json<RunView>()).toMatchObject({ status: "done", output: { last: NAMES.at(-1), first: 120_032 } });
  expect(place.ledger()).toEqual([...begun, ...NAMES.slice(begun.length - again)]);
  expect((await show(place)).damage).toEqual([]);
  expect((await place.run(["doctor"])).code).toBe(0);
}

export const DISK_STORIES: readonly Story[] = [
  {
    title:
      "FAULTS 10: a disk that fills up stops the run by name, nothing is lost, and the run continues when there is room",
    needsDisk: "store",
    tell: async (place) => {
      const begun = await fill(place, /STORE_FULL/);
      await expectKept(place, begun);
      await place.makeRoom();
      await goOn(place, begun);
    },
  },
  {
    title: "FAULTS 10: the same where the database's log alone has a disk, which a server does not live through",
    needsDisk: "log",
    tell: async (place) => {
      const begun = await fill(place, /STORE_FULL|STORE_UNREACHABLE/);
      await place.makeRoom();
      await expectKept(place, begun);
      await goOn(place, begun);
    },
  },
];
