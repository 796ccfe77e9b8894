/**
 * Lists that stay small however large the tree is: each says how much of it was cut.
 *
 * B1: which entries survive depends on the entries alone, not on the order in which a resumed run met them.
 */
import { Buffer } from "node:buffer";

/** Cuts a list for an output: `{items, total, cut}` with `items.length + cut === total`. */
export function capList(list, itemsMax = 60) {
  const items = list.slice(0, itemsMax);
  return { items, total: list.length, cut: list.length - items.length };
}

/** Appends to a list made by `capList` that keeps its first `itemsMax` entries and counts the rest. */
export function appendCapped(list, entry, itemsMax) {
  list.total++;
  if (list.items.length < itemsMax) list.items.push(entry);
  else list.cut++;
}

/** Keeps the `itemsMax` largest entries by `value`, sorted; of equal values the one met first. */
export function insertLargest(list, entry, itemsMax) {
  if (list.length >= itemsMax && entry.value <= list[list.length - 1].value) return;
  let at = list.length;
  while (at > 0 && list[at - 1].value < entry.value) at--;
  list.splice(at, 0, entry);
  if (list.length > itemsMax) list.pop();
}

/** Orders texts by their code units, the same everywhere. */
export function compareText(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** How often each key occurs: `[key, count]`, the most frequent first. */
export function countBy(list, keyOf) {
  const counts = new Map();
  for (const entry of list) counts.set(keyOf(entry), (counts.get(keyOf(entry)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || compareText(a[0], b[0]));
}

/** The value with all its lists cut to one length, so that its JSON takes no more than `bytesMax` bytes. */
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
  if (Array.isArray(copy.items) && typeof value.cut === "number")
    copy.cut = value.cut + value.items.length - copy.items.length;
  return copy;
}
