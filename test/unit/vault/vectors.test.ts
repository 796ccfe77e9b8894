/** Outside vectors. RFC 7914 stands here; the Wycheproof files lie in the folder that `SPLASHDOWN_VECTORS` names. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openBytes, sealBytes } from "../../../src/vault/aead.js";
import { deriveBytes } from "../../../src/vault/derivation.js";
import { derivePassphraseKey } from "../../../src/vault/slot.js";

const folder = process.env["SPLASHDOWN_VECTORS"] ?? "";
const isSet = folder !== "" && existsSync(join(folder, "wycheproof_aes_gcm_test.json"));
/** Says in the report itself how many were judged, or that none was. */
const note = (count: number): string =>
  isSet ? ` (${count} judged)` : " (SPLASHDOWN_VECTORS names no folder with them: NOT judged in this run)";

interface VectorFile<Group> {
  readonly testGroups: readonly Group[];
}

function readGroups<Group>(name: string): readonly Group[] {
  if (!isSet) return [];
  return (JSON.parse(readFileSync(join(folder, name), "utf8")) as VectorFile<Group>).testGroups;
}

interface GcmGroup {
  readonly keySize: number;
  readonly ivSize: number;
  readonly tagSize: number;
  readonly tests: readonly {
    readonly tcId: number;
    readonly key: string;
    readonly iv: string;
    readonly aad: string;
    readonly msg: string;
    readonly ct: string;
    readonly tag: string;
    readonly result: "valid" | "invalid" | "acceptable";
  }[];
}

interface HkdfGroup {
  readonly tests: readonly {
    readonly tcId: number;
    readonly ikm: string;
    readonly salt: string;
    readonly info: string;
    readonly size: number;
    readonly okm: string;
    readonly result: "valid" | "invalid";
  }[];
}

const hex = (text: string): Buffer => Buffer.from(text, "hex");

describe("scrypt", () => {
  it.each([
    [
      "password",
      "NaCl",
      { log2n: 10, r: 8, p: 16 },
      "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162",
    ],
    [
      "pleaseletmein",
      "SodiumChloride",
      { log2n: 14, r: 8, p: 1 },
      "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2",
    ],
    ["", "", { log2n: 4, r: 1, p: 1 }, "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"],
  ] as const)("gives the value of RFC 7914 section 12 for %s", async (password, salt, cost, key) => {
    expect((await derivePassphraseKey(password, Buffer.from(salt), cost)).toString("hex")).toBe(key);
  });
});

describe("AES-256-GCM", () => {
  const groups = readGroups<GcmGroup>("wycheproof_aes_gcm_test.json");
  const ours = groups.filter((group) => group.keySize === 256 && group.ivSize === 96 && group.tagSize === 128);
  const tests = ours.flatMap((group) => group.tests);

  it(`agrees with every Wycheproof vector of our sizes${note(tests.length)}`, () => {
    const disagreeing = tests.filter((test) => {
      const use = { key: hex(test.key), nonce: hex(test.iv) };
      const opened = openBytes(use, hex(test.aad), hex(test.ct + test.tag))?.toString("hex");
      if (test.result !== "valid") return opened !== undefined;
      return opened !== test.msg || sealBytes(use, hex(test.aad), hex(test.msg)).toString("hex") !== test.ct + test.tag;
    });
    expect(disagreeing.map(({ tcId }) => tcId)).toEqual([]);
    expect(tests.length).toBeGreaterThan(isSet ? 40 : -1);
  });
});

describe("HKDF-SHA-512", () => {
  const tests = readGroups<HkdfGroup>("wycheproof_hkdf_sha512_test.json").flatMap((group) => group.tests);

  it(`agrees with every Wycheproof vector${note(tests.length)}`, () => {
    const disagreeing = tests.filter(
      (test) => deriveOrRefuse(test) !== (test.result === "valid" ? test.okm : "refused"),
    );
    expect(disagreeing.map(({ tcId }) => tcId)).toEqual([]);
    expect(tests.length).toBeGreaterThan(isSet ? 50 : -1);
  });

  function deriveOrRefuse(test: HkdfGroup["tests"][number]): string {
    try {
      return deriveBytes({ key: hex(test.ikm), salt: hex(test.salt) }, hex(test.info), test.size).toString("hex");
    } catch {
      return "refused";
    }
  }
});
