/**
 * Owns the conversation with the engine: one JSON object on stdin, one on stdout, JSON lines on descriptor 3.
 *
 * A tool is a function from the request to its answer. This module reads, writes, and turns a thrown error into one
 * line on stderr and exit status 1.
 *
 * T1: descriptor 3 is used only if it was handed over (a pipe, a socket or a file); closed or broken, it is ignored.
 * T2: a line on descriptor 3 is written whole or not at all: what a full pipe refuses waits for the next line.
 * T3: an answer stays below 200 KB, and a line below the 1 MiB that the engine takes; a larger line is not sent.
 * T4: nothing but the answer goes to stdout.
 */
import { fstatSync, readSync, writeSync } from "node:fs";
import { Buffer } from "node:buffer";
import { fitInto } from "./bounded-lists.mjs";

const REPORT_DESCRIPTOR = 3;
const REQUEST_BYTES_MAX = 64 * 1024 * 1024;
const ANSWER_BYTES_MAX = 190_000;
const LINE_BYTES_MAX = 900_000;
const PENDING_BYTES_MAX = 4 * 1024 * 1024;

/** Runs a tool: reads the request, calls `work(request, channel)`, writes what it returns. */
export async function runTool(work) {
  try {
    const request = parseRequest(readAllStdin());
    const channel = openChannel(REPORT_DESCRIPTOR);
    const answer = await work(request, channel);
    writeAll(1, Buffer.from(`${JSON.stringify(fitInto(answer, ANSWER_BYTES_MAX))}\n`, "utf8"));
  } catch (error) {
    process.stderr.write(`${error?.message ?? error}\n`);
    process.exitCode = 1;
  }
}

/** Parses a request and fills what may be absent, so that a tool can also be run by hand with `{}`. */
export function parseRequest(text) {
  const request = text.trim() === "" ? {} : JSON.parse(text);
  if (request === null || typeof request !== "object" || Array.isArray(request)) {
    throw new Error("the request on stdin is no JSON object");
  }
  return {
    ...request,
    inputs: request.inputs ?? {},
    input: request.input ?? {},
    outputs: request.outputs ?? {},
    feedback: Array.isArray(request.feedback) ? request.feedback : [],
    uncertainties: Array.isArray(request.uncertainties) ? request.uncertainties : [],
    resume: request.resume ?? null,
  };
}

/** The folder to audit: the step's own input, else the workflow's, else where the tool was started; the engine starts it in the workflow's folder. */
export function requestedFolder(request) {
  return String(request.input.folder ?? request.inputs.folder ?? ".");
}

/** A setting of the step, else of the workflow, else the default. */
export function requestedNumber(request, name, fallback) {
  const value = Number(request.input[name] ?? request.inputs[name]);
  return Number.isFinite(value) && value > 0 ? value : fallback;
}

/** Whether the audit shall look into folders that it otherwise passes over. */
export function requestedIncludeSkipped(request) {
  return (request.input.include_skipped ?? request.inputs.include_skipped) === true;
}

/** The state of the named milestone to resume from, or `undefined`. */
export function resumedState(request, name) {
  const milestone = request.resume?.milestone;
  return milestone?.name === name && milestone.state ? milestone.state : undefined;
}

/**
 * Opens the line channel to the engine.
 *
 * Errors: none; without a usable descriptor every call does nothing.
 */
export function openChannel(descriptor) {
  let isOpen = isHandedOver(descriptor);
  let pending = Buffer.alloc(0);
  const send = (message) => {
    const line = isOpen ? Buffer.from(`${JSON.stringify(message)}\n`, "utf8") : undefined;
    if (line === undefined || line.length > LINE_BYTES_MAX) return;
    if (pending.length < PENDING_BYTES_MAX) {
      pending = Buffer.concat([pending, line]);
    }
    try {
      while (pending.length > 0) pending = pending.subarray(writeSync(descriptor, pending));
    } catch (error) {
      if (error.code !== "EAGAIN") isOpen = false;
    }
  };
  return {
    progress: (fraction, message) => send({ type: "progress", fraction: Math.round(fraction * 1000) / 1000, message }),
    milestone: (name, state) => send({ type: "milestone", name, state }),
    partial: (output) => send({ type: "partial", output }),
    confidence: (value) => send({ type: "confidence", value }),
    blocker: (text) => send({ type: "blocker", text }),
  };
}

/** Node keeps descriptors of its own from 3 upwards when none was handed over: those are of no such type. */
function isHandedOver(descriptor) {
  try {
    const status = fstatSync(descriptor);
    return status.isFIFO() || status.isSocket() || status.isFile();
  } catch {
    return false;
  }
}

function readAllStdin() {
  const parts = [];
  let total = 0;
  for (;;) {
    const part = Buffer.allocUnsafe(64 * 1024);
    const count = readOnce(part);
    if (count === 0) break;
    total += count;
    if (total > REQUEST_BYTES_MAX) throw new Error(`the request on stdin is larger than ${REQUEST_BYTES_MAX} bytes`);
    parts.push(part.subarray(0, count));
  }
  return Buffer.concat(parts).toString("utf8");
}

function readOnce(part) {
  for (;;) {
    try {
      return readSync(0, part, 0, part.length, null);
    } catch (error) {
      if (error.code === "EOF") return 0;
      if (error.code !== "EAGAIN") throw error;
      waitBriefly();
    }
  }
}

function writeAll(descriptor, bytes) {
  let rest = bytes;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      waitBriefly();
    }
  }
}

/** Gives a non-blocking peer a moment; reading and writing here are synchronous on purpose. */
function waitBriefly() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
}
