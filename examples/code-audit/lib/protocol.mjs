/**
 * The conversation with the engine: one JSON object on stdin, one on stdout, JSON lines on descriptor 3.
 *
 * T1: descriptor 3 is used only if it was handed over (a pipe, a socket or a file); closed or broken, it is ignored.
 * T2: a line on descriptor 3 is written whole or not at all: what a full pipe refuses waits for the next line.
 * T3: an answer stays below 200 KB; a line stays below the 1 MiB that the engine takes, or is not sent.
 */
import { Buffer } from "node:buffer";
import { fstatSync, writeSync } from "node:fs";
import { fitInto } from "./lists.mjs";

const REPORT_DESCRIPTOR = 3;
const ANSWER_BYTES_MAX = 190_000;
const LINE_BYTES_MAX = 900_000;
const PENDING_BYTES_MAX = 4 * 1024 * 1024;

/** Reads the request, calls `work(request, channel)`, writes its answer; an error is one line on stderr and status 1. */
export async function serve(channel, work) {
  try {
    const parts = [];
    for await (const part of process.stdin) parts.push(part);
    const answer = await work(parseRequest(Buffer.concat(parts).toString("utf8")), channel);
    const whole = answer.confidence ? { uncertainties: [], blockers: [], ...answer } : answer;
    process.stdout.write(`${JSON.stringify(fitInto(whole, ANSWER_BYTES_MAX))}\n`);
  } catch (error) {
    process.stderr.write(`${error?.message ?? error}\n`);
    process.exitCode = 1;
  }
}

/** Parses a request and fills in what may be absent, so that a program can also be run by hand with `{}`. */
function parseRequest(text) {
  const request = text.trim() === "" ? {} : JSON.parse(text);
  if (request === null || typeof request !== "object" || Array.isArray(request))
    throw new Error("the request on stdin is no JSON object");
  const listOf = (value) => (Array.isArray(value) ? value : []);
  const settings = { ...request.inputs, ...request.input };
  return {
    ...request,
    settings,
    outputs: request.outputs ?? {},
    feedback: listOf(request.feedback),
    uncertainties: listOf(request.uncertainties),
    folder: String(settings.folder ?? "."),
    includeSkipped: settings.include_skipped === true,
  };
}

/** A positive number among the settings, else the default. */
export function numberSetting({ settings }, name, fallback) {
  const value = Number(settings[name]);
  return Number.isFinite(value) && value > 0 ? value : fallback;
}

/** Opens the line channel to the engine; without a usable descriptor every call does nothing. */
export function openChannel(descriptor = REPORT_DESCRIPTOR) {
  let isOpen = isHandedOver(descriptor);
  let pending = Buffer.alloc(0);
  const send = (message) => {
    const line = isOpen ? Buffer.from(`${JSON.stringify(message)}\n`, "utf8") : undefined;
    if (line === undefined || line.length > LINE_BYTES_MAX) return;
    if (pending.length < PENDING_BYTES_MAX) pending = Buffer.concat([pending, line]);
    try {
      while (pending.length > 0) pending = pending.subarray(writeSync(descriptor, pending));
    } catch (error) {
      if (error.code !== "EAGAIN") isOpen = false;
    }
  };
  return {
    progress: (fraction, message) => send({ type: "progress", fraction: Math.round(fraction * 1000) / 1000, message }),
    milestone: (name, state) => send({ type: "milestone", name, state }),
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
