/**
 * Deliverables of a task that runs: the content is durable in the journal before, and recovery writes again what a crash
 * prevented. A file that cannot be written ends the run with a STORE_* code that names it.
 */
import type { JsonValue } from "../../base/json.js";
import type { DeliverableWriter } from "../../engine/model/ports.js";
import { contentOf } from "../../transfer/folder-files.js";
import { FolderWriter, type FolderWriterParts } from "../../transfer/folder-writer.js";

export function createDeliverableWriter(parts: FolderWriterParts): DeliverableWriter {
  const writer = new FolderWriter(parts);
  return { write: (file, content) => writer.write(file, contentOf(Buffer.from(content, "utf8"))) };
}

/** The bytes of a deliverable whose content the history holds. */
export function encodeDeliverable(content: JsonValue): Buffer {
  return Buffer.from(typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
}
