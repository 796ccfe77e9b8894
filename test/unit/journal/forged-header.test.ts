/** Headers that somebody made without the key: anybody can compute a line's hash, so the seal decides. */
import { describe, expect, it } from "vitest";
import { errorCodeOf } from "../../../src/base/errors.js";
import type { JsonObject } from "../../../src/base/json.js";
import { readHistory, type History } from "../../../src/journal/history.js";
import { readJournalEnd } from "../../../src/journal/journal-end.js";
import { openWholeSegment } from "../../../src/journal/whole-segment.js";
import { forgeHeader, hashOf, headerFieldsOf, withHeader } from "../../support/forged-header.js";
import {
  createJournalRoom,
  createSegmentsTask,
  createTestVault,
  JOURNAL_TASK_ID,
  notedEvent,
  textsOf,
} from "../../support/journal-room.js";

const vault = createTestVault();
const TEXTS = ["note 1", "note 2", "note 3", "note 4"];

/** Two owners; the first wrote a record too late. */
async function createScene() {
  const room = await createJournalRoom();
  const first = await room.take();
  first.append([notedEvent(1), notedEvent(2)]);
  await first.durable();
  const second = await room.take(first.position);
  first.append([notedEvent(3, "too late")]);
  await first.durable();
  second.append([notedEvent(3)]);
  await second.durable();
  second.append([notedEvent(4)]);
  await second.durable();
  return { room, first: await room.bytes(), second: await room.bytes({ epoch: 2, index: 0 }) };
}

function read(segments: Readonly<Record<string, Uint8Array>>): Promise<History> {
  return readHistory({ task: createSegmentsTask(new Map(Object.entries(segments))), vault });
}

/** What an attempt gives: the texts of the history, or the code of the refusal. */
async function tryReading(segments: Readonly<Record<string, Uint8Array>>): Promise<string> {
  try {
    return textsOf(await read(segments)).join();
  } catch (error) {
    return errorCodeOf(error) ?? String(error);
  }
}

describe("a header that its key has not sealed", () => {
  it("[security C1] names an earlier record under a later epoch, and takes nothing out of the history", async () => {
    const { first, second } = await createScene();
    for (const epoch of [3, 4, 7, 99_999_999])
      for (const source of [first, second])
        for (const prev of [null, { epoch: 1, index: 0, n: 1, h: hashOf(first, 1) }]) {
          const forged = forgeHeader({ ...headerFieldsOf(source), epoch, index: 0, repeats: 0, base: null, prev });
          const history = await read({ "1-0": first, "2-0": second, [`${epoch}-0`]: forged });
          expect(textsOf(history)).toEqual(TEXTS);
          expect(history).toMatchObject({ epoch: 2, claimedEpoch: epoch, lost: [] });
          expect(history.damage).toEqual([{ segment: `${String(epoch).padStart(8, "0")}-0000`, what: "unsealed" }]);
        }
  });

  it("[security C1 kin] brings no record of a superseded owner back that was written too late", async () => {
    const { first, second } = await createScene();
    const prev = { epoch: 1, index: 0, n: 3, h: hashOf(first, 3) };
    const forged = forgeHeader({ ...headerFieldsOf(second), epoch: 3, prev });
    const history = await read({ "1-0": first, "2-0": second, "3-0": forged });
    expect(textsOf(history)).toEqual(TEXTS);
    expect(history.orphans.map((record) => record.decode())).toMatchObject([{ text: "too late" }]);
  });

  it("[security C1 kin] is a line of another place of the same task, which its own fields say", async () => {
    const { first, second } = await createScene();
    const [line = ""] = first.toString("utf8").split("\n");
    expect(await tryReading({ "1-0": first, "2-0": second, "3-0": Buffer.from(`${line}\n`) })).toBe("TASK_SWAPPED");
  });

  it("[security C1 kin] stands over records: whatever field was changed is refused by name", async () => {
    const { first, second } = await createScene();
    const fields = headerFieldsOf(second);
    const prev = fields["prev"] as JsonObject;
    const changes: readonly (readonly [string, JsonObject])[] = [
      ["TASK_SWAPPED", { workflow_id: "11111111-2222-4333-8444-555555555555" }],
      ["TASK_SWAPPED", { epoch: 1 }],
      ["TASK_SWAPPED", { index: 1 }],
      ["SEAL_MISSING", { suite: "none", key: null, salt: "", commit: "", seal: "" }],
      ["FORMAT_VERSION", { suite: "A256GCM-HKDF-SHA512-KC2" }],
      ["KEY_MISSING", { key: "ffffffffffffffff" }],
      ["KEY_WRONG", { salt: headerFieldsOf(first)["salt"] ?? null }],
      ["KEY_WRONG", { commit: headerFieldsOf(first)["commit"] ?? null }],
      ["JOURNAL_TAMPERED", { seal: headerFieldsOf(first)["seal"] ?? null }],
      ["JOURNAL_TAMPERED", { seal: "" }],
      ["JOURNAL_TAMPERED", { prev: null }],
      ["JOURNAL_TAMPERED", { prev: { ...prev, n: 1, h: hashOf(first, 1) } }],
      ["JOURNAL_TAMPERED", { prev: { ...prev, n: 3, h: hashOf(first, 3) }, repeats: 1 }],
      ["JOURNAL_TAMPERED", { repeats: 1 }],
      ["JOURNAL_TAMPERED", { repeats: 2, whole: true }],
      ["JOURNAL_TAMPERED", { base: JOURNAL_TASK_ID }],
      ["JOURNAL_TAMPERED", { timestamp: "2030-01-01T00:00:00.000Z" }],
    ];
    for (const [code, change] of changes)
      expect([change, await tryReading({ "1-0": first, "2-0": withHeader(second, change) })]).toEqual([change, code]);
  });

  it("[security C1 kin] puts no history in force that was being written once more when its writer died", async () => {
    const { room, first, second } = await createScene();
    const { head } = await room.read();
    if (head === undefined) throw new Error("nothing was written");
    const whole = await openWholeSegment({ ...room, epoch: await room.task.claim(), prev: head, firstN: 1 });
    for (const n of [1, 2, 3, 4]) await whole.add(notedEvent(n, "a".repeat(400_000)));
    await whole.close();
    const torn = await room.bytes({ epoch: 3, index: 0 });
    const last = /\{"r":(\d+),.*"h":"([^"]*)"\}\n$/s.exec(torn.toString("latin1").slice(-2_000_000));
    const prev = { epoch: 3, index: 0, n: Number(last?.[1] ?? 1), h: last?.[2] ?? "A".repeat(43) };
    const forged = forgeHeader({ ...headerFieldsOf(second), epoch: 4, prev, repeats: 0 });
    expect(await tryReading({ "1-0": first, "2-0": second, "3-0": torn, "4-0": forged })).toBe(TEXTS.join());
  });

  it("[security C1 kin] does not hide the end of a journal from those who only look at it", async () => {
    const { first, second } = await createScene();
    const prev = { epoch: 1, index: 0, n: 1, h: hashOf(first, 1) };
    const forged = forgeHeader({ ...headerFieldsOf(second), epoch: 9, prev });
    const task = createSegmentsTask(new Map(Object.entries({ "1-0": first, "2-0": second, "9-0": forged })));
    const end = await readJournalEnd({ task, vault });
    expect(end).toMatchObject({ epoch: 2, isDamaged: false });
    expect(end.records.at(-1)?.decode()).toMatchObject({ text: "note 4" });
  });

  it("J15: is told from one that its key has sealed, which counts without any record", async () => {
    const { room, first, second } = await createScene();
    const third = await room.take((await room.read()).head);
    await third.close();
    const sealed = await room.bytes({ epoch: 3, index: 0 });
    const history = await read({ "1-0": first, "2-0": second, "3-0": sealed });
    expect(history).toMatchObject({ epoch: 3, damage: [], lost: [] });
    expect(textsOf(history)).toEqual(TEXTS);
  });
});
