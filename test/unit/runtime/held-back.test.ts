/** What the fencing check has not allowed to begin is not shown as begun. */
import { describe, expect, it } from "vitest";
import type { StepId } from "../../../src/base/ids.js";
import type { EngineEvent } from "../../../src/engine/model/events.js";
import { createState } from "../../../src/engine/model/state.js";
import { HeldBack } from "../../../src/runtime/session/held-back.js";
import { viewRunning } from "../../../src/runtime/session/running-view.js";

const step = "main/c@1.1" as StepId;
const intended = { type: "step_intended", step } as EngineEvent;

describe("a step that was intended", () => {
  it("[reliability 10 kin] is held back from the moment it is recorded until it may be acted on, and at each attempt anew", async () => {
    const held = new HeldBack();
    const appended: unknown[] = [];
    const log = held.watch({
      append: (events) => void appended.push(...events),
      durable: () => Promise.resolve(),
      confirm: () => Promise.reject(new Error("superseded")),
    });
    log.append([intended]);
    await log.durable();
    await expect(log.confirm()).rejects.toThrow("superseded");
    expect([held.has(step), appended]).toEqual([true, [intended]]);
    held.allow(intended);
    expect(held.has(step)).toBe(false);
    log.append([intended]);
    expect(held.has(step)).toBe(true);
  });

  it("is no running step of the live view while it is held back", () => {
    const state = createState();
    state.open.add(step);
    state.steps.set(step, { id: step, name: "c", confidenceHistory: [], intendedAtMs: 0, attempt: 1 } as never);
    expect(viewRunning(state, 0, (id) => id === step).steps).toEqual([]);
    expect(viewRunning(state, 0, () => false).steps).toMatchObject([{ step, name: "c" }]);
  });
});
