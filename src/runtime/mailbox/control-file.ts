/**
 * Sealed files in `control/`: answers and requests of other processes to the owner of a task.
 *
 * Layout, three LF-terminated lines: a clear header `{"format":"splashdown.control","version":"1.0",…seal header}`, the
 * base64 of the sealed JSON body, and the SHA-256 of both lines in hex digits, which tells damage from another key, and is
 * all that tells it where the task is not encrypted. The seal binds the header line, the task and the object key, so a file
 * moved to another name or task does not open. Whoever creates a key first wins: files are exclusively created and never
 * replaced.
 */
import { decodeBase64, sha256Hex } from "../../base/digest.js";
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import { LIMITS } from "../../base/limits.js";
import type { KeyId } from "../../base/ids.js";
import type { SealHeader, TaskVault } from "../../vault/contract.js";

const FORMAT = "splashdown.control";
const VERSION = "1.0";

export function encodeControlFile(vault: TaskVault, key: string, message: JsonObject): Uint8Array {
  const sealer = vault.createSealer("control");
  const header = canonicalJson({ format: FORMAT, version: VERSION, workflow_id: vault.taskId, ...sealer.header });
  const sealed = sealer.seal(0, associatedData(header, key), Buffer.from(JSON.stringify(message), "utf8"));
  const body = `${header}\n${sealed.toString("base64")}\n`;
  return Buffer.from(`${body}${sha256Hex(body)}\n`, "utf8");
}

/** Errors: FORMAT_NOT_OURS, FORMAT_VERSION, TASK_SWAPPED, KEY_*, SEAL_MISSING, CHECKPOINT_TAMPERED. */
export function decodeControlFile(vault: TaskVault, key: string, bytes: Uint8Array): JsonObject {
  if (bytes.length > LIMITS.controlFileBytesMax) throw notOurs(key, "it is too large");
  const lines = Buffer.from(bytes).toString("utf8").split("\n");
  const [headerText, payload, sum, end] = lines;
  if (headerText === undefined || payload === undefined || end !== "" || lines.length !== 4)
    throw notOurs(key, "it does not have three lines");
  if (sum !== sha256Hex(`${headerText}\n${payload}\n`)) throw notOurs(key, "it does not match its own checksum");
  const header = parseHeader(key, headerText);
  if (header["workflow_id"] !== vault.taskId) {
    throw new SplashdownError("TASK_SWAPPED", `control file ${key} belongs to another task`, {
      details: { file: key },
    });
  }
  const sealed = decodeBase64(payload);
  if (sealed === undefined) throw notOurs(key, "its payload is not base64");
  const opener = vault.createOpener("control", sealHeaderOf(key, header));
  return parseBody(key, opener.open(0, associatedData(headerText, key), sealed).toString("utf8"));
}

/** Where the task is not encrypted, nothing was proved of it before. */
function parseBody(key: string, text: string): JsonObject {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw notOurs(key, "its body is not JSON");
  }
  if (!isJsonObject(body)) throw notOurs(key, "its body is not an object");
  return body;
}

function associatedData(header: string, key: string): Uint8Array {
  return Buffer.from(`${header}\n${key}`, "utf8");
}

function parseHeader(key: string, text: string): JsonObject {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    throw notOurs(key, "its first line is not JSON");
  }
  if (!isJsonObject(header) || header["format"] !== FORMAT) throw notOurs(key, "its format is another");
  if (header["version"] !== VERSION) {
    throw new SplashdownError(
      "FORMAT_VERSION",
      `control file ${key} has version ${JSON.stringify(header["version"])}, this program reads ${VERSION}`,
      { details: { file: key } },
    );
  }
  return header;
}

function sealHeaderOf(key: string, header: JsonObject): SealHeader {
  const { suite, salt, commit, key: keyId } = header;
  if (typeof suite !== "string" || typeof salt !== "string" || typeof commit !== "string")
    throw notOurs(key, "its seal is incomplete");
  return { suite, salt, commit, ...(typeof keyId === "string" ? { key: keyId as KeyId } : {}) };
}

function notOurs(key: string, why: string): SplashdownError {
  return new SplashdownError("FORMAT_NOT_OURS", `${key} is not a control file: ${why}`, { details: { file: key } });
}
