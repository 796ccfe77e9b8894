/** A variable that shall hold a key holds one, in any spelling that says it exactly, or is refused with what is wrong. */
import { describe, expect, it } from "vitest";
import type { KeySourceSetting } from "../../../src/vault/key-source.js";
import { refusalOf } from "../../support/error-code.js";
import { createVaultRoom } from "../../support/vault-room.js";

const KEY = Buffer.from(Array.from({ length: 32 }, (_, at) => (at * 37 + 251) & 0xff));
const ENV: KeySourceSetting = { kind: "env", name: "SPLASHDOWN_KEY" };
const SYSTEM: KeySourceSetting = { kind: "system", service: "splashdown", account: "ada" };
const base64 = KEY.toString("base64");

const EXACT = [
  ["base64", base64],
  ["base64 without padding", base64.replace("=", "")],
  ["base64url", KEY.toString("base64url")],
  ["base64url with padding", `${KEY.toString("base64url")}=`],
  ["hex", KEY.toString("hex")],
  ["hex in capitals", KEY.toString("hex").toUpperCase()],
] as const;

const SLIPS = [
  ["40 of its 44 characters", base64.slice(0, 40), "it has 40 characters and is not 32 bytes"],
  ["single quotes", `'${base64}'`, "it stands in quotes"],
  ["double quotes", `"${KEY.toString("hex")}"`, "it stands in quotes"],
  ["a line feed after it", `${base64}\n`, "begins or ends with white space"],
  ["a space before it", ` ${base64}`, "begins or ends with white space"],
  ["62 digits of hex", KEY.toString("hex").slice(2), "it has 62 characters"],
  ["33 bytes of base64", Buffer.alloc(33, 3).toString("base64"), "it has 44 characters"],
  ["a passphrase", "correct horse battery", "a passphrase is for SPLASHDOWN_PASSPHRASE"],
] as const;

describe("a key variable", () => {
  it.each(EXACT)("[public Y] takes %s exactly", async (_name, text) => {
    const room = createVaultRoom({ readSystemSecret: () => Promise.resolve(text) });
    room.secrets.set("SPLASHDOWN_KEY", base64);
    const made = await room.create([ENV]);
    room.secrets.set("SPLASHDOWN_KEY", text);
    expect((await room.open([ENV])).keyId).toBe(made.keyId);
    expect((await room.open([SYSTEM])).keyId).toBe(made.keyId);
  });

  it("[public Y kin] is refused with quotes, white space or a character too few, and never taken for a passphrase", async () => {
    for (const [, text, problem] of SLIPS) {
      const room = createVaultRoom();
      room.secrets.set("SPLASHDOWN_KEY", text);
      const refusal = await refusalOf(() => room.create([ENV]));
      expect([refusal.code, refusal.message.includes(problem)]).toEqual(["KEY_SOURCE_INVALID", true]);
      expect(refusal.message).not.toContain(text.trim().slice(1, 12));
      expect(room.store.objects.size).toBe(0);
    }
  });

  it("[first-use F15] says what is wrong with 40 of 44 characters, where it is asked for", async () => {
    const room = createVaultRoom();
    room.secrets.set("SPLASHDOWN_KEY", base64.slice(0, 40));
    const refusal = await refusalOf(() => room.create([ENV]));
    expect(refusal.message).toBe(
      "the variable $SPLASHDOWN_KEY does not hold a key: it has 40 characters and is not 32 bytes as base64 (44 characters) or hex (64); a passphrase is for SPLASHDOWN_PASSPHRASE",
    );
  });

  it("[public Y kin] under another name is refused the same, and names the kind of source for passphrases", async () => {
    const room = createVaultRoom();
    room.secrets.set("TEAM_KEY", "correct horse battery");
    const refusal = await refusalOf(() => room.create([{ kind: "env", name: "TEAM_KEY" }]));
    expect(refusal.message).toContain("a passphrase is for a source of type passphrase");
  });

  it("[public Y kin] in the system's keyring is refused the same", async () => {
    for (const [, text, problem] of SLIPS.slice(0, 7)) {
      const room = createVaultRoom({ readSystemSecret: () => Promise.resolve(text) });
      const refusal = await refusalOf(() => room.create([SYSTEM]));
      expect([refusal.code, refusal.message.includes(problem)]).toEqual(["KEY_SOURCE_INVALID", true]);
    }
  });
});
