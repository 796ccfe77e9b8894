/** The content of a file `owner-<epoch>`: who runs the task, the socket to ping, and a counter that grows while the owner lives. */
import { isJsonObject, type JsonValue, parseJsonObject } from "../../base/json.js";
import { hasBootedSince } from "../../base/place.js";
import type { OwnerFacts, OwnerState } from "../contract/contract.js";
import type { Machine } from "../contract/store-parts.js";

export const OWNER_BYTES_MAX = 16 * 1024;

const FORMAT = "splashdown.owner";
const VERSION = "1.0";
/** As in the names of segments. */
const EPOCH_DIGITS = 8;

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
  const value = parseJsonObject(text);
  if (value === undefined || value.format !== FORMAT) return undefined;
  const { facts, counter, socket } = value;
  if (!isOwnerFacts(facts) || typeof counter !== "number" || !Number.isSafeInteger(counter)) return undefined;
  return {
    facts,
    counter,
    socket: typeof socket === "string" && parseSocketName(socket) !== undefined ? socket : undefined,
  };
}

/** The record of an epoch's owner: whoever was superseded can neither write over it nor take it away. */
export function formatOwnerName(epoch: number): string {
  return `owner-${formatEpoch(epoch)}`;
}

/** The socket of one announcement: a name of its own, so that an old owner's end cannot take away the new one's door. */
export function formatSocketName(epoch: number, random: Uint8Array): string {
  return `owner-${formatEpoch(epoch)}-${Buffer.from(random).toString("hex")}.sock`;
}

function formatEpoch(epoch: number): string {
  return String(epoch).padStart(EPOCH_DIGITS, "0");
}

/** The epoch of a record's name; `undefined` for another name. */
export function parseOwnerName(name: string): number | undefined {
  const epoch = /^owner-(\d{8})$/.exec(name)?.[1];
  return epoch === undefined ? undefined : Number(epoch);
}

/** The epoch of a socket's name; `undefined` for another name. */
export function parseSocketName(name: string): number | undefined {
  const epoch = /^owner-(\d{8})-[0-9a-f]{16}\.sock$/.exec(name)?.[1];
  return epoch === undefined ? undefined : Number(epoch);
}

/**
 * What was found, and `gone` instead of `unclear` where the owner's process has provably ended on this machine, or with the
 * machine's last boot.
 */
export async function settleOwner(found: OwnerState, machine: Machine | undefined): Promise<OwnerState> {
  const { state, owner } = found;
  if (state !== "unclear" || owner === undefined || machine === undefined) return found;
  if ((await machine.hasEnded?.(owner)) === true) return { ...found, state: "gone" };
  return hasBootedSince(owner, machine) ? { ...found, state: "gone", hasBooted: true } : found;
}

function isOwnerFacts(value: JsonValue | undefined): value is OwnerFacts {
  if (value === undefined || !isJsonObject(value)) return false;
  const { host, machineId, bootId, namespace, processStartedAt, since } = value;
  const texts = [host, machineId, bootId, namespace, processStartedAt, since];
  const isEpoch = value.epoch === undefined || typeof value.epoch === "number";
  return typeof value.pid === "number" && isEpoch && texts.every((text) => typeof text === "string");
}
