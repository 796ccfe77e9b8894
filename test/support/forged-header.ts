/** What somebody with write access and no key can do to the first line of a segment: any field, and a hash that fits. */
import { sha256, encodeBase64Url } from "../../src/base/digest.js";
import type { JsonObject } from "../../src/base/json.js";
import { canonicalJson } from "../../src/base/json-encoding.js";

const LINE = /^(\{"format":"splashdown\.journal","version":"1\.0","header":)(\{.*\}),"h":"[^"]*"\}$/;

/** The fields of a segment's header line. */
export function headerFieldsOf(segment: Uint8Array): JsonObject {
  const [line = ""] = Buffer.from(segment).toString("utf8").split("\n");
  const fields = LINE.exec(line)?.[2];
  if (fields === undefined) throw new Error("the segment has no header line");
  return JSON.parse(fields) as JsonObject;
}

/** A header line, newline included, whose hash fits its fields. */
export function forgeHeader(fields: JsonObject): Buffer {
  const hashed = `{"format":"splashdown.journal","version":"1.0","header":${canonicalJson(fields)}`;
  return Buffer.from(`${hashed},"h":"${encodeBase64Url(sha256(hashed))}"}\n`);
}

/** The chain hash that the record of that number states. */
export function hashOf(segment: Uint8Array, n: number): string {
  const lines = Buffer.from(segment).toString("utf8").split("\n");
  const hash = /"h":"([^"]*)"\}$/.exec(lines.find((line) => line.startsWith(`{"n":${n},`)) ?? "")?.[1];
  if (hash === undefined) throw new Error(`there is no record ${n}`);
  return hash;
}

/** The same segment, its header replaced by one with other fields. */
export function withHeader(segment: Uint8Array, change: JsonObject): Buffer {
  const bytes = Buffer.from(segment);
  return Buffer.concat([forgeHeader({ ...headerFieldsOf(bytes), ...change }), bytes.subarray(bytes.indexOf("\n") + 1)]);
}
