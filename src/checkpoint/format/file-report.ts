/**
 * What can be said of one checkpoint file: `debug validate-checkpoint`. Without a key structure, checksum and header;
 * with one also the seal, the task and the content. Changes nothing.
 */
import { errorCodeOf, messageOf } from "../../base/errors.js";
import type { ErrorCode } from "../../base/error-table.js";
import type { CheckpointHeader } from "../../schema/generated/checkpoint-header.js";
import type { TaskVault } from "../../vault/contract.js";
import { readLayout } from "./layout.js";
import { parseSnapshotName, requireName } from "./names.js";
import { WITHOUT_PAUSES } from "./time-slicer.js";
import { decodePayload } from "./payload.js";
import { openText } from "./sealed-payload.js";
/** `structure`: four lines, checksum, header. `name`: the file stands under its own name. `seal`: key and tag. `content`: a state, in its place in the chain. */
export type CheckName = "structure" | "name" | "seal" | "content";

export interface FileCheck {
  readonly check: CheckName;
  /** `skipped`: an earlier check failed, or there is no key. */
  readonly result: "ok" | "failed" | "skipped";
  readonly code?: ErrorCode;
  readonly message?: string;
}

export interface FileReport {
  /** Nothing that could be checked failed. */
  readonly ok: boolean;
  /** A key was at hand. */
  readonly withKey: boolean;
  readonly checks: readonly FileCheck[];
  readonly header?: CheckpointHeader;
  readonly sha256?: string;
}

export interface FileReportOptions {
  /** The file's name, without folders; absent: not compared. */
  readonly name?: string;
  readonly vault?: TaskVault;
  readonly rawBytesMax: number;
}

/** Checks a file's bytes. Errors: none; what is wrong is in the report. */
export async function validateFile(bytes: Uint8Array, options: FileReportOptions): Promise<FileReport> {
  const checks: FileCheck[] = [];
  const { vault, name } = options;
  const layout = await attempt(checks, "structure", () => readLayout(bytes, options.rawBytesMax, WITHOUT_PAUSES));
  // A copy that a program made has a name of its own, which says nothing.
  if (layout !== undefined && name !== undefined && parseSnapshotName(name) !== undefined)
    await attempt(checks, "name", async () => requireName(name, layout.header));
  else checks.push({ check: "name", result: "skipped" });
  const canOpen = layout !== undefined && vault !== undefined;
  const text = canOpen
    ? await attempt(checks, "seal", () => openText({ layout, vault, pace: WITHOUT_PAUSES }))
    : skip(checks, "seal");
  if (layout !== undefined && text !== undefined)
    await attempt(checks, "content", async () => decodePayload(text, layout.header));
  else skip(checks, "content");
  const ok = checks.every(({ result }) => result !== "failed");
  const facts = layout === undefined ? {} : { header: layout.header, sha256: layout.sha256 };
  return { ok, withKey: vault !== undefined, checks, ...facts };
}

async function attempt<T>(checks: FileCheck[], check: CheckName, work: () => Promise<T>): Promise<T | undefined> {
  try {
    const value = await work();
    checks.push({ check, result: "ok" });
    return value;
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === undefined || code === "INTERNAL") throw error;
    checks.push({ check, result: "failed", code, message: messageOf(error) });
    return undefined;
  }
}

function skip(checks: FileCheck[], check: CheckName): undefined {
  checks.push({ check, result: "skipped" });
  return undefined;
}
