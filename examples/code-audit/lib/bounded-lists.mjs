/**
 * Owns lists that stay small however large the tree is: every list in an output says how much of it was cut.
 *
 * B1: which entries survive depends on the entries alone, not on the time or the order in which a resume met them.
 * B2: an output that is still too large has all its lists cut to the same length; the counts beside them stay true.
 */

import { Buffer } from "node:buffer";

/**
 * Cuts a list for an output.
 *
 * Shape: `{items, total, cut}` with `items.length + cut === total`.
 */
export function capList(list, itemsMax, total = list.length) {
  const items = list.slice(0, itemsMax);
  return { items, total, cut: total - items.length };
}

/** Orders texts by their code units, the same everywhere. */
export function compareText(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Appends to a list that keeps its first `itemsMax` entries and counts the rest. */
export function appendCapped(list, entry, itemsMax) {
  list.total = (list.total ?? 0) + 1;
  if (list.items.length < itemsMax) list.items.push(entry);
}

/** An empty list for `appendCapped`, plain enough to stand in a milestone. */
export function createCapped() {
  return { items: [], total: 0 };
}

/** A finished capped list as it stands in an output. */
export function sealCapped(list) {
  return { items: list.items, total: list.total, cut: list.total - list.items.length };
}

/**
 * Keeps the `itemsMax` largest entries by `value`; equal values keep the one met first.
 *
 * Shape: `list` is an ordinary array, sorted, so that it can stand in a milestone.
 */
export function insertLargest(list, entry, itemsMax) {
  if (list.length >= itemsMax && entry.value <= list[list.length - 1].value) return;
  let at = list.length;
  while (at > 0 && list[at - 1].value < entry.value) at--;
  list.splice(at, 0, entry);
  if (list.length > itemsMax) list.pop();
}

/** The value with every list cut so that its JSON takes no more than `bytesMax` bytes, if that can be reached (B2). */
export function fitInto(value, bytesMax) {
  let fitted = value;
  for (let itemsMax = 64; Buffer.byteLength(JSON.stringify(fitted)) > bytesMax && itemsMax >= 1; itemsMax >>= 1)
    fitted = shortenLists(value, itemsMax);
  return fitted;
}

function shortenLists(value, itemsMax) {
  if (Array.isArray(value)) return value.slice(0, itemsMax).map((entry) => shortenLists(entry, itemsMax));
  if (value === null || typeof value !== "object") return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, shortenLists(entry, itemsMax)]));
  if (Array.isArray(copy.items)) {
    const cut = value.items.length - copy.items.length;
    if (typeof value.cut === "number") copy.cut = value.cut + cut;
  }
  return copy;
}
