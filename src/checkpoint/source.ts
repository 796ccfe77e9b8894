/**
 * The snapshot files of a task as recovery and reading verbs see them. Reading changes no byte; only `quarantine` does.
 *
 * Owns: listing by name, opening and verifying one file, setting a bad one aside. Who picks a file is recovery/.
 */
import { SplashdownError } from "../base/errors.js";
import type { CheckpointId } from "../base/ids.js";
import type { CheckpointHeader } from "../schema/generated/checkpoint-header.js";
import type { ObjectEntry, TaskStore } from "../store/contract/contract.js";
import type { TaskVault } from "../vault/contract.js";
import { setObjectAside } from "./quarantine.js";
import type { LoadedSnapshot, SnapshotEntry, SnapshotSource } from "./contract.js";
import { computeFileBytesMax, HEADER_LINE_BYTES_MAX, readHead, readLayout, type ReadLayout } from "./format/layout.js";
import { parseSnapshotName, SNAPSHOT_PREFIX, type SnapshotName, requireName } from "./format/names.js";
import { WITHOUT_PAUSES } from "./format/time-slicer.js";
import { type CheckpointSummary, decodePayload, decodeSummary } from "./format/payload.js";
import { openText } from "./format/sealed-payload.js";

export interface SnapshotSourceOptions {
  readonly store: TaskStore;
  readonly vault: TaskVault;
  /** `checkpoint_size_limit_mb` in bytes: of the state's text. */
  readonly rawBytesMax: number;
}

/** A snapshot source that can also give the picture alone, for `checkpoints show`. */
export interface SummarySource extends SnapshotSource {
  /** Errors: as `load`. */
  loadPicture(
    file: string,
  ): Promise<{ readonly header: CheckpointHeader; readonly picture: CheckpointSummary; readonly sha256: string }>;
}

/** The snapshot files of one task over its store and vault. */
export function createSnapshotSource(options: SnapshotSourceOptions): SummarySource {
  return new StoredSnapshots(options);
}

class StoredSnapshots implements SummarySource {
  readonly #store: TaskStore;
  readonly #vault: TaskVault;
  readonly #rawBytesMax: number;

  constructor(options: SnapshotSourceOptions) {
    this.#store = options.store;
    this.#vault = options.vault;
    this.#rawBytesMax = options.rawBytesMax;
  }

  async list(): Promise<SnapshotEntry[]> {
    const entries = (await listSnapshotFiles(this.#store)).map(({ entry, name }) => ({
      file: entry.key,
      ...name,
      sizeBytes: entry.sizeBytes,
    }));
    // Listed by key, so that of one sequence the later name comes first.
    entries.reverse().sort((one, other) => other.seq - one.seq);
    const ordered: SnapshotEntry[] = [];
    for (let start = 0; start < entries.length;) {
      let end = start + 1;
      while (entries[end]?.seq === entries[start]?.seq) end += 1;
      const equals = entries.slice(start, end);
      ordered.push(...(equals.length === 1 ? equals : await this.#byEpoch(equals)));
      start = end;
    }
    return ordered;
  }

  async load(file: string): Promise<LoadedSnapshot> {
    return this.#naming(file, async () => {
      const { layout, text } = await this.#open(file);
      const { header } = layout;
      const state = decodePayload(text, header);
      const prev =
        header.prev === null
          ? undefined
          : { checkpointId: header.prev.checkpoint_id as CheckpointId, sha256: header.prev.sha256 };
      return {
        file,
        checkpointId: header.checkpoint_id as CheckpointId,
        seq: header.seq,
        epoch: header.epoch,
        position: header.journal,
        prev,
        sha256: layout.sha256,
        state,
        header,
      };
    });
  }

  async loadPicture(file: string): ReturnType<SummarySource["loadPicture"]> {
    return this.#naming(file, async () => {
      const { layout, text } = await this.#open(file);
      return { header: layout.header, picture: decodeSummary(text, layout.header), sha256: layout.sha256 };
    });
  }

  async quarantine(file: string, reason: string): Promise<string> {
    if ((await this.#store.list(file)).every(({ key }) => key !== file)) throw notFound(file);
    return setObjectAside(this.#store, file, reason);
  }

  /** Files of one sequence, of owners one after the other: what their heads say decides; one that cannot be read is last. */
  async #byEpoch(files: readonly SnapshotEntry[]): Promise<SnapshotEntry[]> {
    const told: { readonly file: SnapshotEntry; readonly epoch: number }[] = [];
    for (const file of files) told.push({ file, epoch: (await this.#readEpoch(file.file)) ?? -1 });
    return told.sort((one, other) => other.epoch - one.epoch).map(({ file }) => file);
  }

  async #readEpoch(file: string): Promise<number | undefined> {
    const start = await this.#store.get(file, { offset: 0, length: HEADER_LINE_BYTES_MAX });
    if (start === undefined) return undefined;
    try {
      return readHead(start).epoch;
    } catch (error) {
      if (error instanceof SplashdownError) return undefined;
      throw error;
    }
  }

  async #open(file: string): Promise<{ layout: ReadLayout; text: Buffer }> {
    if (parseSnapshotName(file) === undefined) throw notFound(file);
    const entry = (await this.#store.list(file)).find((candidate) => candidate.key === file);
    if (entry === undefined) throw notFound(file);
    const bytesMax = computeFileBytesMax(this.#rawBytesMax);
    if (entry.sizeBytes > bytesMax) {
      throw new SplashdownError(
        "VALUE_TOO_LARGE",
        `the file has ${entry.sizeBytes} bytes, over the limit of ${bytesMax}`,
      );
    }
    const bytes = await this.#store.get(file);
    if (bytes === undefined) throw notFound(file);
    const layout = await readLayout(bytes, this.#rawBytesMax, WITHOUT_PAUSES);
    requireName(file, layout.header);
    return { layout, text: await openText({ layout, vault: this.#vault, pace: WITHOUT_PAUSES }) };
  }

  /** Errors say which file they are about. */
  async #naming<T>(file: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SplashdownError) || error.code === "CHECKPOINT_NOT_FOUND") throw error;
      throw new SplashdownError(error.code, `${file}: ${error.message}`, {
        details: { ...error.details, file, task: this.#store.name },
        cause: error,
      });
    }
  }
}

interface NamedFile {
  readonly entry: ObjectEntry;
  readonly name: SnapshotName;
}

/** Files of a task whose names are snapshots' names, sorted by key. */
export async function listSnapshotFiles(store: Pick<TaskStore, "list">): Promise<NamedFile[]> {
  const entries = await store.list(SNAPSHOT_PREFIX);
  return entries.flatMap((entry) => {
    const name = parseSnapshotName(entry.key);
    return name === undefined ? [] : [{ entry, name }];
  });
}

function notFound(file: string): SplashdownError {
  return new SplashdownError("CHECKPOINT_NOT_FOUND", `there is no checkpoint file ${file.slice(0, 200)}`, {
    details: { file: file.slice(0, 200) },
  });
}
