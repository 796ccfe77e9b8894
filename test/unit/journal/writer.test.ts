import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import type { SegmentWriter, TaskStore } from "../../../src/store/contract/contract.js";
import { createJournalRoom, notedEvent, textsOf } from "../../support/journal-room.js";
import { codeOfAsync } from "../../support/error-code.js";
import { wrapTask } from "../../support/wrapped-task.js";

type AppendFault = (lines: readonly Uint8Array[]) => SplashdownError | undefined;

/** The task, whose segments fail when told; what was refused may or may not be there, here it is not. */
function withAppendFaults(
  task: TaskStore,
  fault: AppendFault,
): TaskStore & { readonly appends: number[]; reserves: number } {
  const appends: number[] = [];
  const wrapped = Object.create(task) as TaskStore & { appends: number[]; reserves: number };
  wrapped.appends = appends;
  wrapped.reserves = 0;
  for (const name of ["claim", "confirm", "segments", "read"] as const) wrapped[name] = task[name].bind(task) as never;
  wrapped.releaseReserve = () => {
    wrapped.reserves += 1;
    return Promise.resolve(true);
  };
  wrapped.openSegment = async (epoch, header, more) => {
    const writer = await task.openSegment(epoch, header, more);
    const faulty: SegmentWriter = {
      id: writer.id,
      append: async (lines) => {
        const error = fault(lines);
        appends.push(lines.length);
        if (error !== undefined) throw error;
        await writer.append(lines);
      },
      close: () => writer.close(),
    };
    return faulty;
  };
  return wrapped;
}

const full = () => new SplashdownError("STORE_FULL", "no room");
const broken = () => new SplashdownError("STORE_FAILED", "EIO");

describe("JournalWriter", () => {
  it("J11: makes what durable acknowledges readable in order and numbered from 1", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    expect(writer.position).toBeUndefined();
    writer.append([notedEvent(1), notedEvent(2)]);
    expect(writer.lastN).toBe(2);
    await writer.durable();
    const history = await room.read();
    expect(textsOf(history)).toEqual(["note 1", "note 2"]);
    expect(history.head).toEqual(writer.position);
    expect(writer.position).toMatchObject({ n: 2, epoch: 1, index: 0 });
    expect(writer.sizeBytes()).toBe((await room.bytes()).length);
    expect(writer.bytesWritten).toBe(writer.sizeBytes());
  });

  it("writes everything of one turn in one append, and what comes meanwhile in the next", async () => {
    const room = await createJournalRoom();
    const task = withAppendFaults(room.task, () => undefined);
    const writer = await room.take(undefined, { task });
    writer.append([notedEvent(1)]);
    const first = writer.durable();
    writer.append([notedEvent(2)]);
    const second = writer.durable();
    await Promise.resolve();
    await Promise.resolve();
    writer.append([notedEvent(3)]);
    const third = writer.durable();
    await Promise.all([first, second, third]);
    expect(task.appends).toEqual([2, 1]);
  });

  it("acknowledges at once when nothing is queued", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    await writer.durable();
    expect(writer.position).toBeUndefined();
  });

  it.each(Array.from({ length: 12 }, (_, turns) => turns))(
    "never forgets events that come while a batch ends (%i turns)",
    async (turns) => {
      const room = await createJournalRoom();
      const writer = await room.take();
      for (let n = 1; n <= 5; n += 1) {
        writer.append([notedEvent(n)]);
        const done = writer.durable();
        if (n % 2 === 0) await done;
        else for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      }
      await writer.durable();
      expect((await room.read()).records).toHaveLength(5);
    },
  );

  it("makes events that nobody waits for durable after a short while", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    writer.append([notedEvent(1)]);
    await room.clock.advance(49);
    expect((await room.read()).records).toHaveLength(0);
    await room.clock.advance(1);
    expect((await room.read()).records).toHaveLength(1);
  });

  it("writes nothing more for them when somebody waited for them after all", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    writer.append([notedEvent(1)]);
    await writer.durable();
    const { bytesWritten } = writer;
    await room.clock.advance(1_000);
    expect([writer.bytesWritten, (await room.read()).records.length]).toEqual([bytesWritten, 1]);
    await writer.close();
  });

  it("J3: continues the history of the epoch before, and says so in its header", async () => {
    const room = await createJournalRoom();
    const first = await room.take();
    first.append([notedEvent(1), notedEvent(2)]);
    await first.close();
    const second = await room.take(first.position, { base: "0b0a3f2c-5d7e-4f10-8a9b-1c2d3e4f5a6b" });
    second.append([notedEvent(3)]);
    await second.close();
    const history = await room.read();
    expect(textsOf(history)).toEqual(["note 1", "note 2", "note 3"]);
    expect(history.epoch).toBe(2);
    expect(second.positionAt(2)).toEqual(first.position);
    expect(second.positionAt(1)).toBeUndefined();
    expect(second.positionAt(3)).toEqual(second.position);
  });

  it("J12: repeats what was not acknowledged in a new segment with another salt after a failure", async () => {
    const room = await createJournalRoom();
    let failures = 0;
    const task = withAppendFaults(room.task, (lines) =>
      lines.length === 3 && failures++ === 0 ? broken() : undefined,
    );
    const writer = await room.take(undefined, { task });
    writer.append([notedEvent(1)]);
    await writer.durable();
    writer.append([notedEvent(2), notedEvent(3), notedEvent(4)]);
    await writer.durable();
    expect(writer.position).toMatchObject({ n: 4, epoch: 1, index: 1 });
    expect(textsOf(await room.read())).toEqual(["note 1", "note 2", "note 3", "note 4"]);
    const salts = [await room.bytes(), await room.bytes({ epoch: 1, index: 1 })].map(
      (bytes) => /"salt":"([^"]+)"/.exec(bytes.toString())?.[1],
    );
    expect(new Set(salts).size).toBe(2);
    expect(writer.positionAt(1)).toMatchObject({ n: 1, index: 0 });
    expect(writer.positionAt(3)).toMatchObject({ n: 3, index: 1 });
  });

  it("J12: frees the reserve first when the disk is full", async () => {
    const room = await createJournalRoom();
    let failures = 0;
    const task = withAppendFaults(room.task, () => (failures++ === 0 ? full() : undefined));
    const writer = await room.take(undefined, { task });
    writer.append([notedEvent(1)]);
    await writer.durable();
    expect(task.reserves).toBe(1);
    expect(textsOf(await room.read())).toEqual(["note 1"]);
  });

  it.each([
    ["STORE_FULL", full],
    ["STORE_FAILED", broken],
  ])("J12: ends with %s after a second failure, for everyone who waits and for ever", async (code, error) => {
    const room = await createJournalRoom();
    const task = withAppendFaults(room.task, (lines) => (lines.length > 1 ? error() : undefined));
    const writer = await room.take(undefined, { task });
    writer.append([notedEvent(1), notedEvent(2)]);
    const waits = [writer.durable(), writer.durable()];
    const codes = await Promise.all(waits.map((wait) => codeOfAsync(() => wait)));
    expect(codes).toEqual([code, code]);
    expect(await codeOfAsync(() => writer.durable())).toBe(code);
    expect(await codeOfAsync(async () => writer.append([notedEvent(3)]))).toBe(code);
    expect(await codeOfAsync(() => writer.close())).toBe(code);
    expect((await room.read()).records).toHaveLength(0);
  });

  it("a failure later than a survived one is survived again", async () => {
    const room = await createJournalRoom();
    let appends = 0;
    const task = withAppendFaults(room.task, () => (appends++ % 2 === 0 ? broken() : undefined));
    const writer = await room.take(undefined, { task });
    for (let n = 1; n <= 4; n += 1) {
      writer.append([notedEvent(n)]);
      await writer.durable();
    }
    expect(textsOf(await room.read())).toEqual(["note 1", "note 2", "note 3", "note 4"]);
    expect(writer.position).toMatchObject({ n: 4, index: 4 });
  });

  it("J12: bears one failure while its first segment is opened, and says what stopped it after two", async () => {
    const room = await createJournalRoom();
    let failures = 1;
    const openSegment: TaskStore["openSegment"] = async (epoch, header, lines) => {
      const writer = await room.task.openSegment(epoch, header, lines);
      if (failures-- > 0) throw broken();
      return writer;
    };
    const task = wrapTask(room.task, { openSegment });
    const writer = await room.take(undefined, { task });
    writer.append([notedEvent(1)]);
    await writer.durable();
    expect(writer.position).toMatchObject({ n: 1, index: 1 });
    expect(textsOf(await room.read())).toEqual(["note 1"]);
    failures = 2;
    expect(await codeOfAsync(() => room.take(writer.position, { task }))).toBe("STORE_FAILED");
    expect(textsOf(await room.read())).toEqual(["note 1"]);
  });

  it("wraps a foreign error as STORE_FAILED and lets a mistake of ours through", async () => {
    const room = await createJournalRoom();
    const foreign = withAppendFaults(room.task, () => Object.assign(new Error("odd"), {}) as never);
    const writer = await room.take(undefined, { task: foreign });
    writer.append([notedEvent(1)]);
    expect(await codeOfAsync(() => writer.durable())).toBe("STORE_FAILED");
    const ours = withAppendFaults(room.task, () => new SplashdownError("INTERNAL", "mistake"));
    const other = await room.take(undefined, { task: ours });
    other.append([notedEvent(1)]);
    expect(await codeOfAsync(() => other.durable())).toBe("INTERNAL");
  });

  it("rotates at its limits, and the history runs through", async () => {
    const room = await createJournalRoom();
    const writer = await room.take(undefined, { segmentRecordsMax: 3, segmentBytesMax: 100_000 });
    for (let n = 1; n <= 8; n += 1) {
      writer.append([notedEvent(n)]);
      await writer.durable();
    }
    await writer.close();
    expect((await room.task.segments()).map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(textsOf(await room.read())).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `note ${n}`));
    const byBytes = await room.take(writer.position, { segmentBytesMax: 1 });
    for (let n = 9; n <= 11; n += 1) {
      byBytes.append([notedEvent(n)]);
      await byBytes.durable();
    }
    expect(byBytes.position).toMatchObject({ n: 11, epoch: 2, index: 2 });
    expect((await room.read()).records).toHaveLength(11);
  });

  it("says OWNER_SUPERSEDED once somebody claimed a higher epoch", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    await writer.confirm();
    await room.task.claim();
    expect(await codeOfAsync(() => writer.confirm())).toBe("OWNER_SUPERSEDED");
  });

  it("refuses an event over the limit before anything is queued", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    const big = { ...notedEvent(2), text: "x".repeat(100 * 1024 * 1024) };
    expect(await codeOfAsync(async () => writer.append([notedEvent(1), big as never]))).toBe("VALUE_TOO_LARGE");
    expect(writer.lastN).toBe(0);
    writer.append([notedEvent(1)]);
    await writer.durable();
    expect((await room.read()).records).toHaveLength(1);
  });

  it("close makes the queue durable, and a closed journal takes nothing", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    writer.append([notedEvent(1)]);
    await writer.close();
    await writer.close();
    expect((await room.read()).records).toHaveLength(1);
    expect(await codeOfAsync(async () => writer.append([notedEvent(2)]))).toBe("INTERNAL");
    expect(room.clock.pendingCount).toBe(0);
  });

  it("forgets where records of long ago stand", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    const count = 65_540;
    writer.append(Array.from({ length: count }, (_, at) => notedEvent(at + 1, "x")));
    await writer.durable();
    expect(writer.positionAt(1)).toBeUndefined();
    expect(writer.positionAt(count - 65_535)).toMatchObject({ n: count - 65_535 });
    expect(writer.positionAt(count + 1)).toBeUndefined();
  });
});
