/**
 * Branded identifiers and how new ones are made.
 *
 * Time and randomness come in as ports, so equal inputs give equal ids.
 */
import type { RandomSource } from "./random.js";

declare const brand: unique symbol;
type Brand<Name extends string> = string & { readonly [brand]: Name };

/** A task's identity: a uuid; the folder name is only where it lies. */
export type TaskId = Brand<"TaskId">;
/** Identity of one snapshot or checkpoint: a uuid. */
export type CheckpointId = Brand<"CheckpointId">;
/** Identity of a question: step identity, kind and ordinal, readable; hashed in file names. */
export type QuestionId = Brand<"QuestionId">;
/** Identity of one step execution place: path, round, visit and item key (see engine/model/identity.ts). */
export type StepId = Brand<"StepId">;
/** Short public name of a key: 16 lower-case hex digits. */
export type KeyId = Brand<"KeyId">;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** True for a lower-case uuid. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** A version 4 uuid. Source: RFC 9562 section 5.4. */
export function createUuid(random: RandomSource): string {
  const bytes = random.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
