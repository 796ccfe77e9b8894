/**
 * What every store must do, as data: a runner goes over the groups and runs every case on a store of its own.
 *
 * S1–S4 are the invariants of the store contract. The cases use nothing but the contract.
 */
import type { Store, TaskStore } from "../../src/store/contract/contract.js";
import { PRESENCE_CASES, TASK_CASES } from "./store-place-cases.js";
import { CLAIM_CASES, SEGMENT_CASES } from "./store-log-cases.js";
import { OBJECT_CASES } from "./store-object-cases.js";
import type { StoreCase } from "./store-case.js";

export const STORE_GROUPS = ["tasks", "claims", "segments", "objects", "presence"] as const;
export type StoreGroup = (typeof STORE_GROUPS)[number];

export const STORE_SUITE: Readonly<Record<StoreGroup, readonly StoreCase[]>> = {
  tasks: TASK_CASES,
  claims: CLAIM_CASES,
  segments: SEGMENT_CASES,
  objects: OBJECT_CASES,
  presence: PRESENCE_CASES,
};

type MethodOf<T> = { [Key in keyof T]-?: T[Key] extends (...args: never[]) => unknown ? Key : never }[keyof T];

/** Every method of the contract, or this does not compile; a run of the suite that calls each of them has no hole. */
export const STORE_METHODS = Object.keys({
  tasks: true,
  task: true,
  createTask: true,
  removeTask: true,
  trash: true,
  trashTask: true,
  restoreTask: true,
  purgeTask: true,
  probe: true,
  close: true,
} satisfies Record<MethodOf<Store>, true>);
export const TASK_METHODS = Object.keys({
  claim: true,
  openSegment: true,
  confirm: true,
  segments: true,
  read: true,
  removeSegment: true,
  putOnce: true,
  get: true,
  list: true,
  remove: true,
  destroy: true,
  watch: true,
  sweep: true,
  releaseReserve: true,
  ensureReserve: true,
  announce: true,
  ownerState: true,
  close: true,
} satisfies Record<MethodOf<TaskStore>, true>);
