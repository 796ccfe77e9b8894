/** The expected values were computed with another implementation of HKDF (Python's hmac and hashlib). */
import { describe, expect, it } from "vitest";
import {
  computeFingerprint,
  computeSaltFingerprint,
  deriveDigestKey,
  deriveSeal,
  isSameBytes,
} from "../../../src/vault/derivation.js";
import { computePartNonce } from "../../../src/vault/aead.js";
import { TASK_ID } from "../../support/vault-room.js";

const key = Buffer.from(Array.from({ length: 32 }, (_unused, index) => index));

describe("derivation", () => {
  it("gives key, nonce and commitment of a file as STORAGE 2.1 says", () => {
    const seal = deriveSeal({ key, salt: Buffer.alloc(32, 9) }, "journal", TASK_ID);
    expect(seal.key.toString("hex")).toBe("843a9fc9e26a1cc7a94aeeab98e06750944f1e58eedc2e00b9aa88f823029a7a");
    expect(seal.nonce.toString("hex")).toBe("ad9a0db43bbcd133bf77d299");
    expect(seal.commitment.toString("hex")).toBe("0e235427527f9d7cd9c33b00e3590e91268378f06826401dbdd358774072403f");
  });

  it("names keys by 16 hex digits, task keys and wrapping keys apart", () => {
    expect(computeFingerprint(key, "wrapping-key")).toBe("55128de93e982f54");
    expect(computeFingerprint(key, "task-key")).toBe("a9244d101e222f37");
    expect(computeSaltFingerprint(key)).toMatch(/^[0-9a-f]{16}$/);
    expect(computeSaltFingerprint(key)).not.toBe(computeFingerprint(key, "task-key"));
  });

  it("V4: refuses a context that could be taken for another one", () => {
    expect(() => deriveDigestKey(key, "digest", "a\0b")).toThrow("a derivation context holds a zero byte");
    expect(deriveDigestKey(key, "digest", "a", "b")).not.toEqual(deriveDigestKey(key, "digest", "ab"));
  });

  it("compares bytes of equal and of different length", () => {
    expect(isSameBytes(key, Buffer.from(key))).toBe(true);
    expect(isSameBytes(key, key.subarray(1))).toBe(false);
    expect(isSameBytes(key, Buffer.alloc(32))).toBe(false);
  });
});

describe("computePartNonce", () => {
  it("XORs the number into the last bytes and leaves the file's nonce alone", () => {
    const nonce = Buffer.from("ad9a0db43bbcd133bf77d299", "hex");
    expect(computePartNonce(nonce, 0).toString("hex")).toBe("ad9a0db43bbcd133bf77d299");
    expect(computePartNonce(nonce, 1).toString("hex")).toBe("ad9a0db43bbcd133bf77d298");
    expect(computePartNonce(nonce, 0xffffffff).toString("hex")).toBe("ad9a0db43bbcd13340882d66");
    expect(nonce.toString("hex")).toBe("ad9a0db43bbcd133bf77d299");
  });

  it.each([-1, 2 ** 32, 0.5])("refuses %s, which would meet another part's nonce", (part) => {
    expect(() => computePartNonce(Buffer.alloc(12), part)).toThrow(`part number ${part} is out of range`);
  });
});
