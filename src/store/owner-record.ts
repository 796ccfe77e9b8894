/** What the file `owner` says: who runs a task, where to knock, and a counter that grows while the owner lives. */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";
import type { OwnerFacts } from "./contract.js";

export const OWNER_BYTES_MAX = 16 * 1024;

const FORMAT = "splashdown.owner";
const VERSION = "1.0";

export interface OwnerRecord {
  readonly facts: OwnerFacts;
  readonly counter: number;
  /** The socket's name in the task's folder; absent where none could be made. */
  readonly socket?: string | undefined;
}

export function encodeOwnerRecord(record: OwnerRecord): string {
  const { facts, counter, socket } = record;
  return `${JSON.stringify({ format: FORMAT, version: VERSION, facts, counter, socket })}\n`;
}

/** The record in a text; `undefined` for anything else. A newer version is read as far as it is understood. */
export function decodeOwnerRecord(text: string): OwnerRecord | undefined {
  if (text.length > OWNER_BYTES_MAX) return undefined;
  const value = parseObject(text);
  if (value === undefined || value.format !== FORMAT) return undefined;
  const { facts, counter, socket } = value;
  if (!isOwnerFacts(facts) || typeof counter !== "number" || !Number.isSafeInteger(counter)) return undefined;
  return { facts, counter, socket: typeof socket === "string" && isSocketName(socket) ? socket : undefined };
}

/** The socket of one announcement: a name of its own, so that an old owner's end cannot take away the new one's door. */
export function formatSocketName(random: Uint8Array): string {
  return `owner-${Buffer.from(random).toString("hex")}.sock`;
}

export function isSocketName(name: string): boolean {
  return /^owner-[0-9a-f]{16}\.sock$/.test(name);
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isOwnerFacts(value: JsonValue | undefined): value is OwnerFacts {
  if (value === undefined || !isJsonObject(value)) return false;
  const texts = [value.host, value.bootId, value.processStartedAt, value.since];
  const isEpoch = value.epoch === undefined || typeof value.epoch === "number";
  return typeof value.pid === "number" && isEpoch && texts.every((text) => typeof text === "string");
}
