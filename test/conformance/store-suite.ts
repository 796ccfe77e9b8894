/**
 * What every store must do, as data: a runner goes over the groups and runs every case on a store of its own.
 *
 * S1–S4 are the invariants of the store contract. The cases use nothing but the contract.
 */
import type { Store, TaskStore } from "../../src/store/contract.js";
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

/** Every method of the contract; a run of the suite that calls one of them never has a hole. */
export const STORE_METHODS = ["tasks", "task", "createTask", "probe", "close"] as const;
export const TASK_METHODS = [
  "claim",
  "openSegment",
  "confirm",
  "segments",
  "read",
  "removeSegment",
  "putOnce",
  "get",
  "list",
  "remove",
  "watch",
  "sweep",
  "releaseReserve",
  "ensureReserve",
  "announce",
  "ownerState",
  "close",
] as const;

type MethodOf<T> = { [Key in keyof T]: T[Key] extends (...args: never[]) => unknown ? Key : never }[keyof T];
type Missing =
  | Exclude<MethodOf<Store>, (typeof STORE_METHODS)[number]>
  | Exclude<MethodOf<TaskStore>, (typeof TASK_METHODS)[number]>;
/** Does not compile when the contract has a method that the lists above lack. */
export const MISSING_METHODS: readonly Missing[] = [] satisfies readonly never[];
