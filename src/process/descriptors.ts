/**
 * Looks whether the system has descriptors left for a child before one is asked for.
 *
 * Node does not close the pipes of a child that it could not start for want of descriptors, so every failed try would
 * make the shortage worse. Asking first costs 40 µs where a spawn costs 2 ms.
 */
import { closeSync, openSync } from "node:fs";

/** Both ends of five pipes and what Node itself needs to start a child, with some room for other threads. */
const CHILD_DESCRIPTORS = 24;

/** Errors: the platform's EMFILE or ENFILE when a child could not get its descriptors now. */
export function requireDescriptors(): void {
  const opened: number[] = [];
  try {
    for (let count = 0; count < CHILD_DESCRIPTORS; count += 1) opened.push(openSync("/dev/null", "r"));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
