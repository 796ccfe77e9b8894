/**
 * A disk in memory that knows which of its content would survive a power cut.
 *
 * Files only grow, or are erased: an extent is `pending` until its file is synced, `lost` when that sync failed (the kernel has marked
 * the pages clean and will never write them), else `synced`. A folder has its entries as seen and as durable, and
 * between the two the changes that no `syncFolder` has covered; a rename is one change of two entries.
 * Everything is synchronous and deterministic, and a copy shares all bytes: images are cheap.
 */
import { platformErrorFields } from "./platform-error.js";

export interface Extent {
  readonly bytes: Uint8Array;
  readonly state: "synced" | "pending" | "lost";
}

export interface FileNode {
  readonly kind: "file";
  readonly id: number;
  readonly extents: Extent[];
  /** Extents before this index are no longer pending. */
  settledCount: number;
  sizeBytes: number;
  links: number;
  mode: number;
  uid: number;
}

export interface FolderNode {
  readonly kind: "folder";
  readonly id: number;
  readonly entries: Map<string, DiskNode>;
  durable: Map<string, DiskNode>;
  pending: FolderChange[];
  mode: number;
  uid: number;
}

/** A symbolic link, or something that is neither file nor folder; planted by tests only. */
export interface OddNode {
  readonly kind: "link" | "other";
  readonly id: number;
  readonly target: string;
  readonly mode: number;
  readonly uid: number;
}

export type DiskNode = FileNode | FolderNode | OddNode;

export interface EntryEffect {
  readonly folder: FolderNode;
  readonly name: string;
  /** What the name leads to afterwards; absent when it is gone. */
  readonly node: DiskNode | undefined;
}

/** Entries that change together or not at all. */
export interface FolderChange {
  readonly effects: readonly EntryEffect[];
}

/** Everything that changes a disk, as data, so that it can be played again on a copy. */
export type Mutation =
  | { readonly kind: "create" | "syncFolder"; readonly path: string }
  | { readonly kind: "mkdir" | "unlink" | "rmdir" | "erase"; readonly path: string }
  | { readonly kind: "link" | "rename"; readonly path: string; readonly to: string }
  | { readonly kind: "write"; readonly file: number; readonly bytes: Uint8Array }
  | { readonly kind: "sync" | "loseSync"; readonly file: number };

export interface DiskSettings {
  /** Who creates; files planted under another id belong to somebody else. */
  readonly uid: number;
  /** Room for file bytes; a write over it fails with ENOSPC after filling it. */
  readonly capacityBytes: number;
  /** False: `link` fails with ENOTSUP, as on exFAT. */
  readonly hasLinks: boolean;
}

const DEFAULT_SETTINGS: DiskSettings = { uid: 1000, capacityBytes: Infinity, hasLinks: true };

/** An error as the platform gives it: the errno name in `code`, where Node has one. */
export class DiskError extends Error {
  readonly code: string;
  readonly errno: number;

  constructor(name: string, path: string) {
    const { code, errno } = platformErrorFields(name);
    super(`${code}: ${path}`);
    this.code = code;
    this.errno = errno;
  }
}

export class DiskModel {
  readonly settings: DiskSettings;
  readonly root: FolderNode;
  usedBytes = 0;
  /** Told of every change that took place. */
  onMutation: ((mutation: Mutation) => void) | undefined;
  #nextId = 1;
  readonly #files = new Map<number, FileNode>();

  constructor(settings: Partial<DiskSettings> = {}) {
    this.settings = { ...DEFAULT_SETTINGS, ...settings };
    this.root = this.createFolderNode();
  }

  createFolderNode(): FolderNode {
    const { uid } = this.settings;
    return {
      kind: "folder",
      id: this.#nextId++,
      entries: new Map(),
      durable: new Map(),
      pending: [],
      mode: 0o700,
      uid,
    };
  }

  createFileNode(extents: Extent[] = []): FileNode {
    const sizeBytes = extents.reduce((sum, extent) => sum + extent.bytes.byteLength, 0);
    const settledCount = extents.findIndex((extent) => extent.state === "pending");
    const node: FileNode = {
      kind: "file",
      id: this.#nextId++,
      extents,
      settledCount: settledCount < 0 ? extents.length : settledCount,
      sizeBytes,
      links: 0,
      mode: 0o600,
      uid: this.settings.uid,
    };
    this.usedBytes += sizeBytes;
    this.#files.set(node.id, node);
    return node;
  }

  /** Puts a symbolic link, or something odd, where a test wants it. */
  plantOdd(path: string, kind: OddNode["kind"], target = ""): void {
    const { folder, name } = this.#parentOf(path);
    const node: OddNode = { kind, id: this.#nextId++, target, mode: 0o777, uid: this.settings.uid };
    folder.entries.set(name, node);
    folder.durable.set(name, node);
  }

  /** Does what the mutation says, or throws a DiskError and changes nothing. */
  apply(mutation: Mutation): FileNode | undefined {
    const made = this.#perform(mutation);
    this.onMutation?.(mutation);
    return made;
  }

  find(path: string): DiskNode {
    let node: DiskNode = this.root;
    for (const part of path.split("/")) {
      if (part === "") continue;
      const folder = this.#asFolder(node, path);
      if (part === ".") {
        node = folder;
        continue;
      }
      const next = folder.entries.get(part);
      if (next === undefined) throw new DiskError("ENOENT", path);
      node = next;
    }
    return node;
  }

  findFolder(path: string): FolderNode {
    return this.#asFolder(this.find(path), path, false);
  }

  #perform(mutation: Mutation): FileNode | undefined {
    switch (mutation.kind) {
      case "create":
        return this.#create(mutation.path);
      case "write":
        this.#write(this.#fileById(mutation.file), mutation.bytes);
        return undefined;
      case "sync":
        settle(this.#fileById(mutation.file), "synced");
        return undefined;
      case "loseSync":
        settle(this.#fileById(mutation.file), "lost");
        return undefined;
      case "syncFolder":
        syncEntries(this.findFolder(mutation.path));
        return undefined;
      default:
        this.#changeNames(mutation);
        return undefined;
    }
  }

  #changeNames(mutation: Exclude<Mutation, { kind: "create" | "write" | "sync" | "loseSync" | "syncFolder" }>): void {
    const { folder, name } = this.#parentOf(mutation.path);
    switch (mutation.kind) {
      case "mkdir":
        if (folder.entries.has(name)) throw new DiskError("EEXIST", mutation.path);
        change([{ folder, name, node: this.createFolderNode() }]);
        return;
      case "rmdir":
        this.#rmdir(folder, name, mutation.path);
        return;
      case "unlink":
        this.#unlink(folder, name, mutation.path);
        return;
      case "erase":
        erase(requireEntry(folder, name, mutation.path), mutation.path);
        return;
      case "link":
        this.#link(requireEntry(folder, name, mutation.path), mutation.to);
        return;
      case "rename":
        this.#rename({ folder, name, node: requireEntry(folder, name, mutation.path) }, mutation.to);
        return;
    }
  }

  #create(path: string): FileNode {
    const { folder, name } = this.#parentOf(path);
    if (folder.entries.has(name)) throw new DiskError("EEXIST", path);
    const node = this.createFileNode();
    node.links = 1;
    change([{ folder, name, node }]);
    return node;
  }

  #write(file: FileNode, bytes: Uint8Array): void {
    file.extents.push({ bytes, state: "pending" });
    file.sizeBytes += bytes.byteLength;
    this.usedBytes += bytes.byteLength;
  }

  #rmdir(folder: FolderNode, name: string, path: string): void {
    const node = requireEntry(folder, name, path);
    if (node.kind !== "folder") throw new DiskError("ENOTDIR", path);
    if (node.entries.size > 0) throw new DiskError("ENOTEMPTY", path);
    change([{ folder, name, node: undefined }]);
  }

  #unlink(folder: FolderNode, name: string, path: string): void {
    const node = requireEntry(folder, name, path);
    if (node.kind === "folder") throw new DiskError("EISDIR", path);
    change([{ folder, name, node: undefined }]);
    this.#dropName(node);
  }

  #link(node: DiskNode, to: string): void {
    if (!this.settings.hasLinks) throw new DiskError("ENOTSUP", to);
    if (node.kind !== "file") throw new DiskError("EPERM", to);
    const { folder, name } = this.#parentOf(to);
    if (folder.entries.has(name)) throw new DiskError("EEXIST", to);
    node.links += 1;
    change([{ folder, name, node }]);
  }

  #rename(from: EntryEffect, to: string): void {
    const { folder, name } = this.#parentOf(to);
    const replaced = folder.entries.get(name);
    if (replaced === from.node) return;
    if (replaced?.kind === "folder") throw new DiskError("EISDIR", to);
    change([
      { ...from, node: undefined },
      { folder, name, node: from.node },
    ]);
    if (replaced !== undefined) this.#dropName(replaced);
  }

  #dropName(node: DiskNode): void {
    if (node.kind !== "file") return;
    node.links -= 1;
    if (node.links === 0) this.usedBytes -= node.sizeBytes;
  }

  #fileById(id: number): FileNode {
    const file = this.#files.get(id);
    if (file === undefined) throw new Error(`no file ${id}`);
    return file;
  }

  #parentOf(path: string): { folder: FolderNode; name: string } {
    const slash = path.lastIndexOf("/");
    return { folder: this.#asFolder(this.find(path.slice(0, slash)), path), name: path.slice(slash + 1) };
  }

  #asFolder(node: DiskNode, path: string, follow = true): FolderNode {
    if (node.kind === "folder") return node;
    if (node.kind === "link" && follow) return this.#asFolder(this.find(node.target), path);
    throw new DiskError(node.kind === "link" ? "ELOOP" : "ENOTDIR", path);
  }
}

/** The content of a file as readers see it. */
export function contentOf(file: FileNode): Uint8Array {
  if (file.extents.length === 1 && file.extents[0] !== undefined) return file.extents[0].bytes;
  return Buffer.concat(file.extents.map((extent) => extent.bytes));
}

function requireEntry(folder: FolderNode, name: string, path: string): DiskNode {
  const node = folder.entries.get(name);
  if (node === undefined) throw new DiskError("ENOENT", path);
  return node;
}

export function setEntry(entries: Map<string, DiskNode>, effect: EntryEffect): void {
  if (effect.node === undefined) entries.delete(effect.name);
  else entries.set(effect.name, effect.node);
}

function change(effects: readonly EntryEffect[]): void {
  const made: FolderChange = { effects };
  for (const effect of effects) {
    setEntry(effect.folder.entries, effect);
    if (!effect.folder.pending.includes(made)) effect.folder.pending.push(made);
  }
}

/** Zeros in place of the bytes, at once: what a cut leaves between the two is torn zeros, which open nothing either. */
function erase(node: DiskNode, path: string): void {
  if (node.kind !== "file") throw new DiskError(node.kind === "folder" ? "EISDIR" : "ELOOP", path);
  node.extents.splice(0, node.extents.length, { bytes: new Uint8Array(node.sizeBytes), state: "synced" });
  node.settledCount = 1;
}

function syncEntries(folder: FolderNode): void {
  for (const made of folder.pending) {
    for (const effect of made.effects) {
      if (effect.folder === folder) continue;
      setEntry(effect.folder.durable, effect);
      effect.folder.pending = effect.folder.pending.filter((other) => other !== made);
    }
  }
  folder.durable = new Map(folder.entries);
  folder.pending = [];
}

function settle(file: FileNode, state: "synced" | "lost"): void {
  for (let at = file.settledCount; at < file.extents.length; at += 1) {
    const extent = file.extents[at];
    if (extent !== undefined) file.extents[at] = { bytes: extent.bytes, state };
  }
  file.settledCount = file.extents.length;
}
