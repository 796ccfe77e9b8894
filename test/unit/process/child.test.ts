import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { GroupChild } from "../../../src/process/child.js";
import type { ProcessTable } from "../../../src/process/process-table.js";
import { FakeClock } from "../../support/fake-clock.js";
import { placeOf, processOf } from "../../support/places.js";

const PID = 4242;
const table: ProcessTable = {
  place: placeOf("boot"),
  read: () => undefined,
  list: async () => [],
  hasMark: () => false,
};

afterEach(() => vi.restoreAllMocks());

/** A child whose group is empty when it ends, and whose streams somebody holds open; its patience is over at once. */
function startHeldUp() {
  vi.spyOn(process, "kill").mockImplementation(() => {
    throw Object.assign(new Error("ESRCH"), { code: "ESRCH" });
  });
  const [stdin, stdout, stderr, control, gate] = Array.from({ length: 5 }, () => new PassThrough());
  const stdio = [stdin, stdout, stderr, control, gate];
  const program = Object.assign(new EventEmitter(), { pid: PID, stdin, stdout, stderr, stdio });
  stdout?.once("close", () => program.emit("close"));
  class HeldUpClock extends FakeClock {
    override schedule(_durationMs: number, callback: () => void): () => void {
      callback();
      return () => undefined;
    }
  }
  const child = new GroupChild({
    spec: { program: "p", arguments: [], environment: {}, stdoutBytesMax: 1e9, stderrTailBytes: 100 },
    process: program as unknown as ChildProcess,
    identity: processOf(PID, 7, "boot"),
    ending: { clock: new HeldUpClock(), table },
    onEmpty: () => undefined,
  });
  return { child, stdout: stdout as PassThrough, end: () => program.emit("exit", 0, null) };
}

describe("the result of a child", () => {
  it("has what the program wrote before it ended, also where this process was held up and reads it late", async () => {
    const { child, stdout, end } = startHeldUp();
    end();
    setImmediate(() => {
      stdout.write("first ");
      setImmediate(() => stdout.write("and last"));
    });
    expect((await child.result).stdout.toString()).toBe("first and last");
  });

  it("does not wait for somebody who left the group and writes for ever", async () => {
    const { child, stdout, end } = startHeldUp();
    let isOver = false;
    const goOn = () => {
      if (isOver) return;
      stdout.write("more");
      setImmediate(goOn);
    };
    end();
    goOn();
    const { stdout: said } = await child.result;
    isOver = true;
    expect(said.toString()).toMatch(/^(more)+$/);
  });
});
