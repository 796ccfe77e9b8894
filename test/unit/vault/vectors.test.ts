/**
 * Outside vectors. Those of RFC 7914, of the specification of GCM and of RFC 5869 stand here; the Wycheproof files lie in the
 * folder that `SPLASHDOWN_VECTORS` names.
 */
import { createHmac } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { openBytes, sealBytes } from "../../../src/vault/aead.js";
import { deriveBytes } from "../../../src/vault/derivation.js";
import { derivePassphraseKey } from "../../../src/vault/slot.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { noteTried, noteUntried, runsOf } from "../../support/tried.js";

const folder = process.env["SPLASHDOWN_VECTORS"] ?? "";
const isSet = folder !== "" && existsSync(join(folder, "wycheproof_aes_gcm_test.json"));
/** Says in the report itself how many were judged, or that none was. */
const note = (count: number): string =>
  isSet ? ` (${count} judged)` : " (SPLASHDOWN_VECTORS names no folder with them: NOT judged in this run)";

function tell(context: TestContext, name: string, count: number): void {
  if (isSet) noteTried(context, count);
  else noteUntried(context, `${name}: SPLASHDOWN_VECTORS names no folder with its vectors`);
}

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

const GCM_KEY = "feffe9928665731c6d6a8f9467308308".repeat(2);
const GCM_TEXT =
  "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
const GCM_SEALED =
  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662";

/** McGrew and Viega, The Galois/Counter Mode of Operation, appendix B: those of 256 bits of key and 96 of nonce. */
const GCM_CASES = [
  {
    number: 13,
    key: "00".repeat(32),
    iv: "00".repeat(12),
    aad: "",
    msg: "",
    ct: "",
    tag: "530f8afbc74536b9a963b4f1c4cb738b",
  },
  {
    number: 14,
    key: "00".repeat(32),
    iv: "00".repeat(12),
    aad: "",
    msg: "00".repeat(16),
    ct: "cea7403d4d606b6e074ec5d3baf39d18",
    tag: "d0d1c8a799996bf0265b98b5d48ab919",
  },
  {
    number: 15,
    key: GCM_KEY,
    iv: "cafebabefacedbaddecaf888",
    aad: "",
    msg: `${GCM_TEXT}1aafd255`,
    ct: `${GCM_SEALED}898015ad`,
    tag: "b094dac5d93471bdec1a502270e3cc6c",
  },
  {
    number: 16,
    key: GCM_KEY,
    iv: "cafebabefacedbaddecaf888",
    aad: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
    msg: GCM_TEXT,
    ct: GCM_SEALED,
    tag: "76fc6ece0f4e1768cddf8853bb2d551b",
  },
];

/** The inputs of RFC 5869 appendix A, which has them for other hashes; what comes out is made by the standard's own steps. */
const HKDF_CASES = [
  { number: 1, ikm: "0b".repeat(22), salt: "000102030405060708090a0b0c", info: "f0f1f2f3f4f5f6f7f8f9", size: 42 },
  { number: 2, ikm: countUp(0x00, 80), salt: countUp(0x60, 80), info: countUp(0xb0, 80), size: 82 },
  { number: 3, ikm: "0b".repeat(22), salt: "", info: "", size: 42 },
].map((one) => ({
  ...one,
  okm: expand(extract(hex(one.salt), hex(one.ikm)), hex(one.info), one.size).toString("hex"),
}));

function countUp(from: number, length: number): string {
  return Buffer.from(Array.from({ length }, (_, at) => from + at)).toString("hex");
}

/** RFC 5869 section 2.2. */
function extract(salt: Uint8Array, ikm: Uint8Array): Buffer {
  return createHmac("sha512", salt.length === 0 ? Buffer.alloc(64) : salt)
    .update(ikm)
    .digest();
}

/** RFC 5869 section 2.3. */
function expand(prk: Uint8Array, info: Uint8Array, size: number): Buffer {
  let block = Buffer.alloc(0);
  let all = Buffer.alloc(0);
  for (let at = 1; all.length < size; at += 1) {
    block = createHmac("sha512", prk)
      .update(block)
      .update(info)
      .update(Buffer.from([at]))
      .digest();
    all = Buffer.concat([all, block]);
  }
  return all.subarray(0, size);
}

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

  it.each(GCM_CASES)("gives what the specification of GCM has as test case $number", (vector) => {
    const use = { key: hex(vector.key), nonce: hex(vector.iv) };
    const sealed = sealBytes(use, hex(vector.aad), hex(vector.msg));
    expect(sealed.toString("hex")).toBe(vector.ct + vector.tag);
    expect(openBytes(use, hex(vector.aad), sealed)?.toString("hex")).toBe(vector.msg);
    sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1;
    expect(openBytes(use, hex(vector.aad), sealed)).toBeUndefined();
  });

  it(`agrees with every Wycheproof vector of our sizes${note(tests.length)}`, (context) => {
    tell(context, "Wycheproof AES-GCM", tests.length);
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

  it.each(HKDF_CASES)("gives what RFC 5869 says of the inputs of its test case $number", ({ ikm, salt, info, okm }) => {
    const made = deriveBytes({ key: hex(ikm), salt: hex(salt) }, hex(info), okm.length / 2);
    expect(made.toString("hex")).toBe(okm);
  });

  it("is the construction of RFC 5869 sections 2.2 and 2.3, whatever goes in", (context) => {
    const random = createSeededRandom("hkdf");
    const tried = runsOf(200);
    noteTried(context, tried);
    for (let run = 0; run < tried; run += 1) {
      const [key, salt, info] = [random.bytes(32), random.bytes(32), random.bytes(1 + (run % 90))];
      const size = 1 + (run % 200);
      expect(deriveBytes({ key, salt }, info, size)).toEqual(expand(extract(salt, key), info, size));
    }
  });

  it(`agrees with every Wycheproof vector${note(tests.length)}`, (context) => {
    tell(context, "Wycheproof HKDF-SHA-512", tests.length);
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
