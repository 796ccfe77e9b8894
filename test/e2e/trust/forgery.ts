/** Snapshot files as a hostile or a clumsy hand leaves them: sealed anew, plain, of another version. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createNodeFileSystem } from "../../../src/base/node-file-system.js";
import { encodeLayout, formatHead, readLayout } from "../../../src/checkpoint/format/layout.js";
import { WITHOUT_PAUSES } from "../../../src/checkpoint/format/time-slicer.js";
import { compressText, sealText } from "../../../src/checkpoint/format/sealed-payload.js";
import type { TaskVault } from "../../../src/vault/contract.js";
import { createPlainVault } from "../../../src/vault/sealing.js";
import { openTaskVault } from "../../../src/vault/task-vault.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createRealStore } from "../../support/store-places.js";
import type { Place } from "./place.js";

const RAW_BYTES_MAX = 64 * 1024 * 1024;

/** The vault of a task, opened with the place's own key. */
export async function openVault(place: Place, task: string): Promise<TaskVault> {
  const store = await createRealStore(place.path("outputs")).task(task);
  if (store === undefined) throw new Error(`there is no task ${task}`);
  return openTaskVault({
    store,
    sources: [{ kind: "keyfile", path: place.path("config", "keys", "default.key") }],
    ports: { fileSystem: createNodeFileSystem(), readSecret: () => undefined },
    random: createSeededRandom(7),
  });
}

/** The file with another text under the same header, sealed with the right key or, with `plain`, not at all. */
export async function withText(
  place: Place,
  source: { readonly task: string; readonly file: string },
  { text, plain = false }: { readonly text: string; readonly plain?: boolean },
): Promise<Buffer> {
  const { header } = await readLayout(
    readFileSync(place.checkpoints(source.task, source.file)),
    RAW_BYTES_MAX,
    WITHOUT_PAUSES,
  );
  const vault = plain ? createPlainVault(header.workflow_id) : await openVault(place, source.task);
  const sealer = vault.createSealer("checkpoint");
  const packed = await compressText([text], { level: 6, rawBytesMax: RAW_BYTES_MAX }, WITHOUT_PAUSES);
  const { key: _key, ...rest } = header;
  const head = formatHead({
    ...rest,
    ...(sealer.header.key === undefined ? {} : { key: sealer.header.key }),
    suite: sealer.header.suite as typeof header.suite,
    salt: sealer.header.salt,
    commit: sealer.header.commit,
    codec: packed.codec,
    raw: packed.rawBytes,
    size: packed.sizeBytes,
  });
  const sealed = await sealText(packed, { sealer, aad: head }, WITHOUT_PAUSES);
  return (await encodeLayout(head, sealed, WITHOUT_PAUSES)).bytes;
}

/** The file with a change of its text and a checksum that fits again. */
export function withRepairedSum(file: Buffer, change: (text: string) => string): Buffer {
  const text = file.toString("latin1");
  const body = change(text.slice(0, text.lastIndexOf('"sha256"')));
  return Buffer.from(`${body}"sha256":"${createHash("sha256").update(body, "latin1").digest("hex")}"}\n`, "latin1");
}
