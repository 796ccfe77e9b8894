/**
 * The file system as a port: few calls, each one system call, so that a simulation can crash between any two of them.
 *
 * A promise says when an answer is there, not where the call ran: what is only a copy into or out of the kernel's memory
 * may be done in the calling thread, because the way through a pool of threads costs more than such a call.
 *
 * Errors: rejections carry the platform's errno name in `code` (`ENOENT`, `EEXIST`, `ENOSPC`, …); the store turns them
 * into coded errors. Paths are absolute.
 */
export interface FileStat {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly sizeBytes: number;
  readonly mode: number;
  readonly uid: number;
  readonly links: number;
  readonly modifiedAtMs: number;
}

/** An open file. A handle whose write or sync failed must be closed and never used again. */
export interface FileHandle {
  /** May write less than asked; the caller loops. Appends at the handle's position. Nothing is durable yet. */
  write(bytes: Uint8Array): Promise<number>;
  /** Reads up to `length` bytes at `position`. */
  read(position: number, length: number): Promise<Uint8Array>;
  stat(): Promise<FileStat>;
  /** Data durable (fdatasync). */
  datasync(): Promise<void>;
  /** Data and metadata durable (fsync). */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** `create`: exclusive creation for writing, 0600, no link followed. `read`, `append`: an existing regular file, no link followed. */
export type OpenIntent = "create" | "read" | "append";

export interface FileSystem {
  open(path: string, intent: OpenIntent): Promise<FileHandle>;
  /** One level, 0700. */
  mkdir(path: string): Promise<void>;
  readdir(path: string): Promise<string[]>;
  /** As `readdir`, at once in the calling thread: for a folder of few names on a local disk that is asked all the time. */
  look(path: string): Promise<string[]>;
  lstat(path: string): Promise<FileStat>;
  /** Refuses to replace. */
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Writes zeros over the bytes of an existing regular file, no link followed; durable on return. */
  erase(path: string): Promise<void>;
  rmdir(path: string): Promise<void>;
  /** Makes the folder's entries durable. */
  syncFolder(path: string): Promise<void>;
  /** The file system's magic number, and whether it is kept in memory only or reached over a network. */
  volumeOf(path: string): Promise<{ readonly type: number; readonly volatile: boolean; readonly network: boolean }>;
}
