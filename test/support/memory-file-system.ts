/**
 * A file system in memory, for what lies outside task folders: key files, anchors.
 *
 * It keeps content, kinds, modes and links, tells which operations ran, can fail one, and says of each folder what
 * kind of volume it is on. It does not model lost writes: that is the simulation's business.
 */
import { dirname, resolve } from "node:path";
import type { FileHandle, FileStat, FileSystem, OpenIntent } from "../../src/base/file-system.js";
import { createPlatformError } from "./platform-error.js";

interface Node {
  kind: FileStat["kind"];
  mode: number;
  bytes: Buffer;
  links: number;
}

export interface Volume {
  readonly type: number;
  readonly volatile: boolean;
  readonly network: boolean;
}

const DISK: Volume = { type: 0xef53, volatile: false, network: false };

function failure(code: string, path: string): Error {
  return createPlatformError(code, path);
}

export class MemoryFileSystem implements FileSystem {
  readonly nodes = new Map<string, Node>();
  /** `open /a create`, `sync /a`, … in order. */
  readonly operations: string[] = [];
  /** Volumes by folder prefix; the longest one counts. */
  readonly volumes = new Map<string, Volume>();
  /** Asked before each operation: an errno name makes it fail. */
  fault: (operation: string) => string | undefined = () => undefined;
  /** Bytes taken by one write at most. */
  writeBytesMax = Number.MAX_SAFE_INTEGER;

  constructor(...folders: readonly string[]) {
    this.#add("/", { kind: "folder", mode: 0o755 });
    for (const folder of folders) this.addFolder(folder);
  }

  #add(path: string, node: { kind: FileStat["kind"]; mode: number; bytes?: Buffer }): void {
    this.nodes.set(path, { bytes: Buffer.alloc(0), links: 1, ...node });
  }

  addFolder(path: string): void {
    if (path !== "/") this.addFolder(dirname(path));
    if (!this.nodes.has(path)) this.#add(path, { kind: "folder", mode: 0o700 });
  }

  addFile(path: string, text: string | Uint8Array, mode = 0o600): void {
    this.addFolder(dirname(path));
    this.#add(path, { kind: "file", mode, bytes: Buffer.from(text as string) });
  }

  addLink(path: string): void {
    this.addFolder(dirname(path));
    this.#add(path, { kind: "link", mode: 0o777 });
  }

  text(path: string): string | undefined {
    return this.nodes.get(path)?.bytes.toString("utf8");
  }

  paths(): string[] {
    return [...this.nodes].filter(([, node]) => node.kind === "file").map(([path]) => path);
  }

  #begin(name: string, path: string): void {
    const operation = `${name} ${path}`;
    const code = this.fault(operation);
    this.operations.push(operation);
    if (code !== undefined) throw failure(code, path);
  }

  #require(path: string): Node {
    const node = this.nodes.get(path);
    if (node === undefined) throw failure("ENOENT", path);
    return node;
  }

  async open(path: string, intent: OpenIntent): Promise<FileHandle> {
    this.#begin(`open:${intent}`, path);
    if (intent === "create") {
      if (this.nodes.has(path)) throw failure("EEXIST", path);
      this.#require(dirname(path));
      this.#add(path, { kind: "file", mode: 0o600 });
    }
    const node = this.#require(path);
    if (node.kind === "link") throw failure("ELOOP", path);
    return this.#handle(path, node);
  }

  #handle(path: string, node: Node): FileHandle {
    return {
      write: async (bytes) => {
        this.#begin("write", path);
        const taken = bytes.subarray(0, this.writeBytesMax);
        node.bytes = Buffer.concat([node.bytes, taken]);
        return taken.length;
      },
      read: async (position, length) => new Uint8Array(node.bytes.subarray(position, position + length)),
      stat: async () => this.#stat(node),
      datasync: async () => this.#begin("datasync", path),
      sync: async () => this.#begin("sync", path),
      close: async () => this.#begin("close", path),
    };
  }

  #stat(node: Node): FileStat {
    const { kind, mode, links } = node;
    return { kind, mode, links, sizeBytes: node.bytes.length, uid: 0, modifiedAtMs: 0 };
  }

  async mkdir(path: string): Promise<void> {
    this.#begin("mkdir", path);
    if (this.nodes.has(path)) throw failure("EEXIST", path);
    this.#require(dirname(path));
    this.#add(path, { kind: "folder", mode: 0o700 });
  }

  async readdir(path: string): Promise<string[]> {
    this.#require(path);
    return [...this.nodes.keys()]
      .filter((name) => name !== "/" && dirname(name) === path)
      .map((name) => name.slice(path.length + 1));
  }

  look(path: string): Promise<string[]> {
    return this.readdir(path);
  }

  async lstat(path: string): Promise<FileStat> {
    this.#begin("lstat", path);
    return this.#stat(this.#require(path));
  }

  async link(from: string, to: string): Promise<void> {
    this.#begin("link", to);
    if (this.nodes.has(to)) throw failure("EEXIST", to);
    this.nodes.set(to, this.#require(from));
  }

  async rename(from: string, to: string): Promise<void> {
    this.#begin("rename", to);
    this.nodes.set(to, this.#require(from));
    this.nodes.delete(from);
  }

  async erase(path: string): Promise<void> {
    this.#begin("erase", path);
    const node = this.#require(path);
    if (node.kind !== "file") throw failure(node.kind === "folder" ? "EISDIR" : "ELOOP", path);
    node.bytes = Buffer.alloc(node.bytes.length);
  }

  async unlink(path: string): Promise<void> {
    this.#begin("unlink", path);
    this.#require(path);
    this.nodes.delete(path);
  }

  async rmdir(path: string): Promise<void> {
    this.#begin("rmdir", path);
    this.nodes.delete(path);
  }

  /** Also by its entry `.`. */
  async syncFolder(path: string): Promise<void> {
    this.#begin("syncFolder", resolve(path));
    this.#require(resolve(path));
  }

  async volumeOf(path: string): Promise<Volume> {
    this.#require(path);
    const fitting = [...this.volumes.keys()].filter(
      (prefix) => path === prefix || path.startsWith(prefix === "/" ? "/" : `${prefix}/`),
    );
    fitting.sort((left, right) => right.length - left.length);
    return this.volumes.get(fitting[0] ?? "") ?? DISK;
  }
}
