/**
 * What a disk may hold after the machine or the process has died: images of a `DiskModel`.
 *
 * kill: everything written is there, and is still as durable as it was, so that a later power cut can take it.
 * power: synced bytes and synced entries are there; of the rest, what the image's seed says. Everything in such an image
 * is durable. Seeds 0 to 3 are the corners (nothing of it, all names without bytes, all bytes without names, all of it),
 * higher ones are drawn.
 */
import {
  type DiskNode,
  DiskModel,
  type EntryEffect,
  type Extent,
  type FileNode,
  type FolderChange,
  type FolderNode,
  setEntry,
} from "../support/disk-model.js";
import { createSeededNumbers } from "../support/seeded-random.js";

export type Loss = { readonly kind: "kill" } | { readonly kind: "power"; readonly seed: number };

/** The first seed whose losses are drawn. */
export const FIRST_DRAWN_SEED = 4;

const CELL_BYTES = 64;

type DataFate = "dropped" | "kept" | "torn" | "zeroed" | "zeroedTail" | "cells";
const DATA_FATES: readonly DataFate[] = ["dropped", "kept", "torn", "zeroed", "zeroedTail", "cells"];

interface Draw {
  keepsChange(): boolean;
  dataFate(): DataFate;
  number(bound: number): number;
}

/** A new disk with what the loss leaves; the given one is not touched and shares its bytes. */
export function createDiskImage(disk: DiskModel, loss: Loss): DiskModel {
  return loss.kind === "kill" ? copyDisk(disk) : cutPower(disk, createDraw(loss.seed));
}

function createDraw(seed: number): Draw {
  const numbers = createSeededNumbers(seed);
  const drawsChanges = seed === 1 || seed === 3;
  const keepsData = seed === 2 || seed === 3;
  if (seed < FIRST_DRAWN_SEED) {
    return { keepsChange: () => drawsChanges, dataFate: () => (keepsData ? "kept" : "dropped"), number: () => 0 };
  }
  return {
    keepsChange: () => numbers.next(2) === 0,
    dataFate: () => DATA_FATES[numbers.next(DATA_FATES.length)] ?? "dropped",
    number: (bound) => numbers.next(bound),
  };
}

/** A copy with the same durability, down to changes that concern two folders at once. */
function copyDisk(disk: DiskModel): DiskModel {
  const image = new DiskModel(disk.settings);
  const nodes = new Map<DiskNode, DiskNode>([[disk.root, image.root]]);
  const changes = new Map<FolderChange, FolderChange>();
  const copyNode = (node: DiskNode): DiskNode => {
    const known = nodes.get(node);
    if (known !== undefined) return known;
    if (node.kind === "folder") {
      const folder = image.createFolderNode();
      nodes.set(node, folder);
      copyFolder(node, folder);
      return folder;
    }
    const made = node.kind === "file" ? copyFile(node, image) : node;
    nodes.set(node, made);
    return made;
  };
  const copyEffect = (effect: EntryEffect): EntryEffect => ({
    folder: copyNode(effect.folder) as FolderNode,
    name: effect.name,
    node: effect.node === undefined ? undefined : copyNode(effect.node),
  });
  const copyChange = (change: FolderChange): FolderChange => {
    const known = changes.get(change);
    if (known !== undefined) return known;
    const made = { effects: change.effects.map(copyEffect) };
    changes.set(change, made);
    return made;
  };
  const copyFolder = (from: FolderNode, to: FolderNode): void => {
    copyAttributes(from, to);
    for (const [name, node] of from.entries) to.entries.set(name, copyNode(node));
    for (const [name, node] of from.durable) to.durable.set(name, copyNode(node));
    to.pending = from.pending.map(copyChange);
  };
  copyFolder(disk.root, image.root);
  return image;
}

function copyFile(node: FileNode, image: DiskModel): FileNode {
  const copy = image.createFileNode([...node.extents]);
  copy.links = node.links;
  copyAttributes(node, copy);
  return copy;
}

function copyAttributes(from: FileNode | FolderNode, to: FileNode | FolderNode): void {
  to.mode = from.mode;
  to.uid = from.uid;
}

/** Only what is durable, and of the rest what the draw keeps. */
function cutPower(disk: DiskModel, draw: Draw): DiskModel {
  const image = new DiskModel(disk.settings);
  const kept = new Map<FolderChange, boolean>();
  const keeps = (change: FolderChange): boolean => {
    const known = kept.get(change);
    if (known !== undefined) return known;
    const isKept = draw.keepsChange();
    kept.set(change, isKept);
    return isKept;
  };
  const nodes = new Map<DiskNode, DiskNode>();
  const build = (node: DiskNode): DiskNode => {
    const known = nodes.get(node);
    if (known !== undefined) return known;
    const made =
      node.kind === "folder" ? image.createFolderNode() : node.kind === "file" ? cutFile(node, image, draw) : node;
    nodes.set(node, made);
    if (node.kind === "folder" && made.kind === "folder") fill(node, made);
    return made;
  };
  const fill = (from: FolderNode, to: FolderNode): void => {
    copyAttributes(from, to);
    const entries = new Map(from.durable);
    for (const change of from.pending) {
      if (!keeps(change)) continue;
      for (const effect of change.effects) if (effect.folder === from) setEntry(entries, effect);
    }
    for (const [name, node] of entries) {
      const made = build(node);
      if (made.kind === "file") made.links += 1;
      to.entries.set(name, made);
      to.durable.set(name, made);
    }
  };
  fill(disk.root, image.root);
  return image;
}

function cutFile(node: FileNode, image: DiskModel, draw: Draw): FileNode {
  const isSettled = node.settledCount === node.extents.length;
  const hasLost = node.extents.some((extent) => extent.state === "lost");
  const extents = isSettled && !hasLost ? [...node.extents] : cutExtents(node, draw);
  const copy = image.createFileNode(extents);
  copyAttributes(node, copy);
  return copy;
}

function cutExtents(node: FileNode, draw: Draw): Extent[] {
  const bytes: Uint8Array[] = [];
  for (const extent of node.extents.slice(0, node.settledCount)) {
    bytes.push(extent.state === "lost" ? new Uint8Array(extent.bytes.byteLength) : extent.bytes);
  }
  const pending = Buffer.concat(node.extents.slice(node.settledCount).map((extent) => extent.bytes));
  const startByte = node.sizeBytes - pending.byteLength;
  const rest = pending.byteLength === 0 ? pending : applyFate({ pending, startByte }, draw);
  if (rest.byteLength > 0) bytes.push(rest);
  else while (bytes.length > 0 && node.extents[bytes.length - 1]?.state === "lost") bytes.pop();
  return bytes.length === 0 ? [] : [{ bytes: Buffer.concat(bytes), state: "synced" }];
}

function applyFate(data: { pending: Uint8Array; startByte: number }, draw: Draw): Uint8Array {
  const { pending } = data;
  const size = pending.byteLength;
  switch (draw.dataFate()) {
    case "dropped":
      return new Uint8Array(0);
    case "kept":
      return pending;
    case "torn":
      return pending.subarray(0, draw.number(size + 1));
    case "zeroed":
      return new Uint8Array(1 + draw.number(size));
    case "zeroedTail": {
      const image = new Uint8Array(size);
      image.set(pending.subarray(0, draw.number(size)));
      return image;
    }
    case "cells":
      return keepCells(data, draw);
  }
}

/** Of the cells that the write crosses, some arrive and some do not; the file has its full length. */
function keepCells(data: { pending: Uint8Array; startByte: number }, draw: Draw): Uint8Array {
  const { pending, startByte } = data;
  const image = new Uint8Array(pending.byteLength);
  let at = 0;
  while (at < pending.byteLength) {
    const end = Math.min(pending.byteLength, at + CELL_BYTES - ((startByte + at) % CELL_BYTES));
    if (draw.number(2) === 0) image.set(pending.subarray(at, end), at);
    at = end;
  }
  return image;
}
