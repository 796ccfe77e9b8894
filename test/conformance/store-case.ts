/** What a conformance case is and how it says that a store is wrong; no test runner in here. */
import assert from "node:assert/strict";
import type { ErrorCode } from "../../src/base/error-table.js";
import { errorCodeOf } from "../../src/base/errors.js";
import type { OwnerFacts, Store, TaskStore } from "../../src/store/contract/contract.js";

export interface StoreContext {
  /** The store under test. Tasks whose names begin with `other` may be there already. */
  readonly store: Store;
  /** Closes nothing; opens the same data once more, as another process would. */
  openAgain(): Promise<Store>;
}

export interface StoreCase {
  /** A sentence about behaviour; that of an invariant begins with its id. */
  readonly name: string;
  readonly run: (context: StoreContext) => Promise<void>;
}

export const FACTS: OwnerFacts = {
  pid: 4711,
  host: "host-a",
  machineId: "machine-a",
  bootId: "boot-a",
  namespace: "pid:[1]",
  processStartedAt: "2024-01-02T14:35:22.123Z",
  since: "2024-01-02T14:35:23.000Z",
};

export function toBytes(text: string): Uint8Array {
  return Buffer.from(text);
}

export function toText(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

export async function createTask(store: Store, name = "task"): Promise<TaskStore> {
  const task = await store.createTask(name);
  assert.ok(task, `task ${name} could not be created`);
  return task;
}

export async function requireTask(store: Store, name = "task"): Promise<TaskStore> {
  const task = await store.task(name);
  assert.ok(task, `task ${name} is not there`);
  return task;
}

export async function assertRejects(work: Promise<unknown>, code: ErrorCode): Promise<void> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.equal(errorCodeOf(error), code, `expected ${code}, got ${String(error)}`);
}
