import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { decodeKeyring } from "../../../src/vault/keyring-format.js";
import { changedBytes, collectOutcomes, cutBytes, splicedBytes } from "../../support/damaged-bytes.js";
import { codeOf, codeOfAsync } from "../../support/error-code.js";
import { createVaultRoom, type VaultRoom } from "../../support/vault-room.js";

const FILE = "keyring-1.json";
let room: VaultRoom;
let good: Uint8Array;

beforeAll(async () => {
  room = createVaultRoom();
  await room.create();
  good = room.store.objects.get(FILE) ?? new Uint8Array();
});

/** What an attacker does who knows the format, but no key. */
function repairSum(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString("latin1");
  const body = text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1);
  const sum = createHash("sha256").update(body, "latin1").digest("hex");
  return Buffer.from(`${body}"sha256":"${sum}"}\n`, "latin1");
}

async function open(bytes: Uint8Array): Promise<string> {
  room.store.objects.set(FILE, bytes);
  const code = await codeOfAsync(() => room.open());
  room.store.objects.set(FILE, good);
  return code;
}

describe("a damaged keyring", () => {
  it("is a small file of exactly four lines, which opens", async () => {
    expect(good.length).toBeLessThan(1200);
    expect(Buffer.from(good).toString().split("\n").length).toBe(5);
    expect(await open(good)).toBe("none");
    JSON.parse(Buffer.from(good).toString());
  });

  it("V9: is refused as corrupt after a flip of any bit", async (context) => {
    const outcomes = await collectOutcomes(context, changedBytes(good), open);
    expect([...outcomes.keys()]).toEqual(["KEYRING_CORRUPT"]);
  });

  it("is refused as corrupt cut at every length, and with a byte put in, doubled or taken out at every offset", async (context) => {
    for (const damages of [cutBytes(good), splicedBytes(good)]) {
      const outcomes = await collectOutcomes(context, damages, (bytes) => codeOf(() => decodeKeyring(bytes, FILE)));
      expect([...outcomes.keys()]).toEqual(["KEYRING_CORRUPT"]);
    }
  });

  it("never opens after a flip of any bit with the checksum repaired, and says so with a code", async (context) => {
    const counts = new Map<string, number>();
    const end = Buffer.from(good).lastIndexOf("\n", good.length - 2) + 1;
    await collectOutcomes(context, changedBytes(good, end), async (bytes) => {
      const code = await open(repairSum(bytes));
      counts.set(code, (counts.get(code) ?? 0) + 1);
      return code;
    });
    expect([...counts.keys()].sort()).toEqual([
      "FORMAT_VERSION",
      "KEYRING_CORRUPT",
      "KEYRING_TAMPERED",
      "TASK_SWAPPED",
    ]);
    expect(counts.get("KEYRING_TAMPERED")).toBeGreaterThan(end / 4);
  });

  it("never opens with the checksum repaired when another slot, generation or minimum was put in", async () => {
    const text = Buffer.from(good).toString();
    const slot = /\{"commit".*?"type":"keyfile".*?\}/.exec(text)?.[0] ?? "";
    const variants = [
      text.replace(slot, `${slot},${slot}`),
      text.replace(`"rev":1`, `"rev":2`),
      text.replace(/"created":"2024/, `"created":"2025`),
    ];
    const codes = [];
    for (const variant of variants) codes.push(await open(repairSum(Buffer.from(variant))));
    expect(codes).toEqual(["KEYRING_TAMPERED", "KEYRING_CORRUPT", "KEYRING_TAMPERED"]);
  });

  it.each([
    ["a newer version", (text: string) => text.replace(`"version":"1.0"`, `"version":"2.0"`), "FORMAT_VERSION"],
    [
      "a version of another form",
      (text: string) => text.replace(`"version":"1.0"`, `"version":"next"`),
      "FORMAT_VERSION",
    ],
    ["white space in the header", (text: string) => text.replace(`"rev":1`, `"rev": 1`), "KEYRING_CORRUPT"],
    ["a number in another form", (text: string) => text.replace(`"rev":1`, `"rev":1.0`), "KEYRING_CORRUPT"],
    ["a doubled key", (text: string) => text.replace(`"rev":1`, `"rev":1,"rev":1`), "KEYRING_CORRUPT"],
    ["an unknown key", (text: string) => text.replace(`"rev":1`, `"rev":1,"rew":1`), "KEYRING_CORRUPT"],
    ["a key __proto__", (text: string) => text.replace(`{"active"`, `{"__proto__":{},"active"`), "KEYRING_CORRUPT"],
    ["a fifth line", (text: string) => text.replace(`"sha256"`, `"more":1,\n"sha256"`), "KEYRING_CORRUPT"],
    ["a header that is no JSON", (text: string) => text.replace(`"header":{`, `"header":[`), "KEYRING_CORRUPT"],
    ["no header", (text: string) => text.replace(`"header":`, `"haeder":`), "KEYRING_CORRUPT"],
    ["a short mac", (text: string) => text.replace(/"mac":"./, `"mac":"`), "KEYRING_CORRUPT"],
    [
      "an active key that is retired",
      (text: string) => text.replace(`"state":"active"`, `"state":"retired"`),
      "KEYRING_CORRUPT",
    ],
    [
      "a minimum above the active key",
      (text: string) => text.replace(`"min_generation":1`, `"min_generation":2`),
      "KEYRING_CORRUPT",
    ],
    [
      "a minimum above its own revision",
      (text: string) => text.replace(`"min_generation":1`, `"min_generation":1,"min_revision":2`),
      "KEYRING_CORRUPT",
    ],
    [
      "a key twice",
      (text: string) =>
        text.replace(
          /"keys":\[(\{.*\})\]/,
          (_all, key: string) => `"keys":[${key.replace("active", "retired")},${key}]`,
        ),
      "KEYRING_CORRUPT",
    ],
    [
      "a slot of another type",
      (text: string) => text.replace(`"type":"keyfile"`, `"type":"passphrase"`),
      "KEYRING_CORRUPT",
    ],
    ["a byte order mark", (text: string) => `\ufeff${text}`, "KEYRING_CORRUPT"],
  ])("with a fitting checksum, but %s, is refused", async (_name, change, code) => {
    expect(await open(repairSum(Buffer.from(change(Buffer.from(good).toString()))))).toBe(code);
  });

  it("refuses generations out of order and too many slots before it looks at a key", async () => {
    const text = Buffer.from(good).toString();
    const older = (key: string): string =>
      key
        .replace("active", "retired")
        .replace(/"id":"./, `"id":"0`)
        .replace(`"generation":1`, `"generation":9`);
    const disordered = text.replace(/"keys":\[(\{.*\})\]/, (_all, key: string) => `"keys":[${older(key)},${key}]`);
    expect(await open(repairSum(Buffer.from(disordered)))).toBe("KEYRING_CORRUPT");
    const key = /"keys":\[(\{.*\})\]/.exec(text)?.[1] ?? "";
    const slot = /\{"commit".*?"type":"keyfile".*?\}/.exec(text)?.[0] ?? "";
    const crowded = key.replace(slot, Array.from({ length: 20 }, () => slot).join(","));
    const two = `${crowded.replace("active", "retired").replace(/"id":"./, `"id":"0`)},${crowded.replace(`"generation":1`, `"generation":2`)}`;
    expect(await open(repairSum(Buffer.from(text.replace(key, two))))).toBe("KEYRING_CORRUPT");
  });

  it("is refused when it is larger than any keyring may be", () => {
    expect(codeOf(() => decodeKeyring(Buffer.alloc(256 * 1024 + 1, 0x20), FILE))).toBe("KEYRING_CORRUPT");
  });
});
