import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeBase64, decodeBase64Url, encodeBase64Url, sha256, sha256Hex } from "../../../src/base/digest.js";

describe("sha256", () => {
  it("gives the vectors of FIPS 180-4, over all parts in order", () => {
    const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    expect(sha256Hex("abc")).toBe(abc);
    expect(sha256Hex("a", new Uint8Array([0x62]), "c")).toBe(abc);
    expect(sha256Hex()).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(sha256("abc")).toHaveLength(32);
  });
});

describe("base64", () => {
  it("reads back what it wrote", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(decodeBase64Url(encodeBase64Url(bytes))).toEqual(Buffer.from(bytes));
        expect(decodeBase64(Buffer.from(bytes).toString("base64"))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it.each(["QQ==", "QR", "Q", "QQ QQ", "Q+", "QUI\n"])(
    "refuses %j, which is not its own canonical base64url",
    (text) => {
      expect(decodeBase64Url(text)).toBeUndefined();
    },
  );

  it.each(["QQ", "QR==", "QQ==\n", "Q_==", "=QQ="])("refuses %j, which is not its own canonical base64", (text) => {
    expect(decodeBase64(text)).toBeUndefined();
  });
});
