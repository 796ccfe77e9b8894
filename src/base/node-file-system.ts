/**
 * The real file system behind the port: Node's calls on plain descriptors, one system call each.
 *
 * Owns: flags, modes, the reading of volume types, and where a call runs. Calls that wait for a disk run in libuv's pool
 * of threads; a hop there and back costs 40–100 µs. Two calls of every durable step wait for nothing and run in the
 * calling thread: the look (7–21 µs for a folder of few names) and a write of up to INLINE_WRITE_BYTES_MAX, a copy into
 * the kernel's cache (4–10 µs; the kernel may hold up a writer only where dirty pages pile up, and here each write is
 * followed by its sync). The sync itself never runs here: it may take a second on a busy disk.
 * The store owns what an error means and whether it is tried again.
 *
 * B3: nothing is opened through a link, nothing is created over something that exists, and what is created is 0600
 *     (files) or 0700 (folders) whatever the umask says.
 */
import {
  close,
  constants,
  fchmod,
  fdatasync,
  fstat,
  fsync,
  link,
  lstat,
  mkdir,
  open,
  read,
  readdir,
  readdirSync,
  rename,
  rmdir,
  type Stats,
  statfs,
  unlink,
  write,
  writeSync,
} from "node:fs";
import type { FileHandle, FileStat, FileSystem, OpenIntent } from "./file-system.js";

/** Written over at a time. */
const ERASE_BYTES = 64 * 1024;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** A larger write goes through the pool of threads. */
const INLINE_WRITE_BYTES_MAX = 64 * 1024;

/** Flags that some platforms lack are undefined there and count as 0. `O_NONBLOCK`: a planted FIFO must not block us. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NON_BLOCK = constants.O_NONBLOCK ?? 0;
const FOLDER_ONLY = constants.O_DIRECTORY ?? 0;

const FLAGS: Record<OpenIntent, number> = {
  create: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW,
  read: constants.O_RDONLY | NO_FOLLOW | NON_BLOCK,
  append: constants.O_WRONLY | constants.O_APPEND | NO_FOLLOW | NON_BLOCK,
};

/** `f_type` of file systems whose content dies with the machine or the container. Source: linux/magic.h. */
const VOLATILE_TYPES = new Set([0x01021994, 0x858458f6, 0x794c7630]);
/** NFS, SMB, CIFS, SMB2, FUSE, 9p, AFS, Ceph. Source: linux/magic.h. */
const NETWORK_TYPES = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x5346414f, 0x00c36400]);

type Done<T> = (error: NodeJS.ErrnoException | null, value?: T) => void;

/** Turns one callback call into a promise; cheaper per call than `fs/promises`. */
function promised<T>(start: (done: Done<T>) => void): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    start((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}

class NodeFileHandle implements FileHandle {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  async write(bytes: Uint8Array): Promise<number> {
    if (bytes.byteLength <= INLINE_WRITE_BYTES_MAX) return writeSync(this.#descriptor, bytes);
    return promised((done) => write(this.#descriptor, bytes, 0, bytes.byteLength, null, done));
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const buffer = Buffer.allocUnsafe(length);
    const count = await promised<number>((done) => read(this.#descriptor, buffer, 0, length, position, done));
    return buffer.subarray(0, count);
  }

  async stat(): Promise<FileStat> {
    return fileStatOf(await promised<Stats>((done) => fstat(this.#descriptor, done)));
  }

  datasync(): Promise<void> {
    return promised((done) => fdatasync(this.#descriptor, done));
  }

  sync(): Promise<void> {
    return promised((done) => fsync(this.#descriptor, done));
  }

  close(): Promise<void> {
    return promised((done) => close(this.#descriptor, done));
  }
}

function fileStatOf(stats: Stats): FileStat {
  return {
    kind: kindOf(stats),
    sizeBytes: stats.size,
    mode: stats.mode & 0o7777,
    uid: stats.uid,
    links: stats.nlink,
    modifiedAtMs: stats.mtimeMs,
  };
}

function kindOf(stats: Stats): FileStat["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "link" : "other";
}

function openDescriptor(path: string, flags: number): Promise<number> {
  return promised((done) => open(path, flags, FILE_MODE, done));
}

/** Runs `use` on a descriptor of the folder itself, never of a link to one. */
async function withFolder(path: string, use: (descriptor: number) => Promise<void>): Promise<void> {
  const descriptor = await openDescriptor(path, constants.O_RDONLY | FOLDER_ONLY | NO_FOLLOW);
  try {
    await use(descriptor);
  } finally {
    await promised<void>((done) => close(descriptor, done));
  }
}

function setMode(descriptor: number, mode: number): Promise<void> {
  return promised((done) => fchmod(descriptor, mode, done));
}

async function openHandle(path: string, intent: OpenIntent): Promise<FileHandle> {
  const descriptor = await openDescriptor(path, FLAGS[intent]);
  if (intent === "create" && process.platform !== "win32") {
    try {
      await setMode(descriptor, FILE_MODE);
    } catch (error) {
      close(descriptor, () => undefined);
      throw error;
    }
  }
  return new NodeFileHandle(descriptor);
}

async function makeFolder(path: string): Promise<void> {
  await promised<void>((done) => mkdir(path, FOLDER_MODE, done));
  if (process.platform !== "win32") await withFolder(path, (descriptor) => setMode(descriptor, FOLDER_MODE));
}

async function eraseFile(path: string): Promise<void> {
  const descriptor = await openDescriptor(path, constants.O_WRONLY | NO_FOLLOW | NON_BLOCK);
  try {
    const stats = await promised<Stats>((done) => fstat(descriptor, done));
    const zeros = Buffer.alloc(Math.min(stats.size, ERASE_BYTES));
    for (let at = 0; at < stats.size;) {
      const length = Math.min(zeros.length, stats.size - at);
      at += await promised<number>((done) => write(descriptor, zeros, 0, length, at, done));
    }
    await promised<void>((done) => fsync(descriptor, done));
  } finally {
    await promised<void>((done) => close(descriptor, done));
  }
}

/**
 * Opens the file system of this machine as the port.
 *
 * Errors: Node's own, with the errno name in `code`.
 */
export function createNodeFileSystem(): FileSystem {
  return {
    open: openHandle,
    mkdir: makeFolder,
    readdir: (path) => promised<string[]>((done) => readdir(path, done)),
    look: async (path) => readdirSync(path),
    lstat: async (path) => fileStatOf(await promised<Stats>((done) => lstat(path, done))),
    link: (from, to) => promised<void>((done) => link(from, to, done)),
    rename: (from, to) => promised<void>((done) => rename(from, to, done)),
    unlink: (path) => promised<void>((done) => unlink(path, done)),
    erase: eraseFile,
    rmdir: (path) => promised<void>((done) => rmdir(path, done)),
    syncFolder: (path) => withFolder(path, (descriptor) => promised<void>((done) => fsync(descriptor, done))),
    volumeOf: async (path) => {
      const volume = await promised<{ type: number }>((done) => statfs(path, done));
      const type = volume.type >>> 0;
      const isLinux = process.platform === "linux";
      return {
        type,
        volatile: isLinux && VOLATILE_TYPES.has(type),
        network: isLinux && NETWORK_TYPES.has(type),
      };
    },
  };
}
