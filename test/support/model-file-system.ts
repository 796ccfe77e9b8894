/**
 * The file system port over a disk model: what the store's tests and the crash simulation run on.
 *
 * Each call takes effect at once and resolves a turn later, so two users interleave between calls and nowhere else.
 * `perform` is the one place every call passes through: the faulty file system overrides it. (For what lies outside
 * task folders there is the simpler `memory-file-system.ts`.)
 */
import type { FileHandle, FileStat, FileSystem, OpenIntent } from "../../src/base/file-system.js";
import { DiskError, DiskModel, type DiskNode, type FileNode, contentOf } from "./disk-model.js";

export type OperationName =
  | "open"
  | "erase"
  | "write"
  | "read"
  | "stat"
  | "datasync"
  | "sync"
  | "close"
  | "mkdir"
  | "readdir"
  | "lstat"
  | "link"
  | "rename"
  | "unlink"
  | "rmdir"
  | "syncFolder"
  | "volumeOf";

export interface Operation {
  readonly name: OperationName;
  readonly path: string;
  readonly intent?: OpenIntent;
  /** The file a handle belongs to. */
  readonly file?: FileNode;
  readonly sizeBytes?: number;
}

/** Does the operation; a write takes at most `limitBytes`. */
export type Act<T> = (limitBytes?: number) => T;

export class ModelFileSystem implements FileSystem {
  readonly disk: DiskModel;
  volume = { type: 0xef53, volatile: false, network: false };

  constructor(disk: DiskModel = new DiskModel()) {
    this.disk = disk;
  }

  open(path: string, intent: OpenIntent): Promise<FileHandle> {
    return this.perform({ name: "open", path, intent }, () => {
      const file = intent === "create" ? this.disk.apply({ kind: "create", path }) : undefined;
      return this.#createHandle(path, file ?? this.#findFile(path));
    });
  }

  mkdir(path: string): Promise<void> {
    return this.perform({ name: "mkdir", path }, () => void this.disk.apply({ kind: "mkdir", path }));
  }

  readdir(path: string): Promise<string[]> {
    return this.perform({ name: "readdir", path }, () => [...this.disk.findFolder(`${path}/.`).entries.keys()]);
  }

  look(path: string): Promise<string[]> {
    return this.readdir(path);
  }

  lstat(path: string): Promise<FileStat> {
    return this.perform({ name: "lstat", path }, () => fileStatOf(this.disk.find(path)));
  }

  link(from: string, to: string): Promise<void> {
    return this.perform({ name: "link", path: from }, () => void this.disk.apply({ kind: "link", path: from, to }));
  }

  rename(from: string, to: string): Promise<void> {
    return this.perform({ name: "rename", path: from }, () => void this.disk.apply({ kind: "rename", path: from, to }));
  }

  unlink(path: string): Promise<void> {
    return this.perform({ name: "unlink", path }, () => void this.disk.apply({ kind: "unlink", path }));
  }

  erase(path: string): Promise<void> {
    return this.perform({ name: "erase", path }, () => void this.disk.apply({ kind: "erase", path }));
  }

  rmdir(path: string): Promise<void> {
    return this.perform({ name: "rmdir", path }, () => void this.disk.apply({ kind: "rmdir", path }));
  }

  syncFolder(path: string): Promise<void> {
    return this.perform({ name: "syncFolder", path }, () => void this.disk.apply({ kind: "syncFolder", path }));
  }

  volumeOf(path: string): ReturnType<FileSystem["volumeOf"]> {
    return this.perform({ name: "volumeOf", path }, () => {
      this.disk.find(path);
      return this.volume;
    });
  }

  /** Every call passes through here. */
  protected async perform<T>(_operation: Operation, act: Act<T>): Promise<T> {
    return act();
  }

  #findFile(path: string): FileNode {
    const node = this.disk.find(path);
    if (node.kind === "file") return node;
    if (node.kind === "folder") throw new DiskError("EISDIR", path);
    throw new DiskError(node.kind === "link" ? "ELOOP" : "ENXIO", path);
  }

  #createHandle(path: string, file: FileNode): FileHandle {
    const { disk } = this;
    const run = <T>(operation: Pick<Operation, "name" | "sizeBytes">, act: Act<T>) =>
      this.perform({ ...operation, path, file }, act);
    return {
      write: (bytes) =>
        run({ name: "write", sizeBytes: bytes.byteLength }, (limitBytes = bytes.byteLength) => {
          const room = Math.max(0, disk.settings.capacityBytes - disk.usedBytes);
          const count = Math.min(bytes.byteLength, limitBytes, room);
          if (count === 0 && bytes.byteLength > 0) throw new DiskError("ENOSPC", path);
          disk.apply({ kind: "write", file: file.id, bytes: new Uint8Array(bytes.subarray(0, count)) });
          return count;
        }),
      read: (position, length) =>
        run({ name: "read" }, () => new Uint8Array(contentOf(file).subarray(position, position + length))),
      stat: () => run({ name: "stat" }, () => fileStatOf(file)),
      datasync: () => run({ name: "datasync" }, () => void disk.apply({ kind: "sync", file: file.id })),
      sync: () => run({ name: "sync" }, () => void disk.apply({ kind: "sync", file: file.id })),
      close: () => run({ name: "close" }, () => undefined),
    };
  }
}

function fileStatOf(node: DiskNode): FileStat {
  const { kind, mode, uid } = node;
  const isFile = node.kind === "file";
  return { kind, mode, uid, sizeBytes: isFile ? node.sizeBytes : 0, links: isFile ? node.links : 1, modifiedAtMs: 0 };
}
