/** Reads where this process runs. */
import { spawnSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { GIVEN_MACHINE, type Place } from "../base/place.js";
import { SYSTEM_ENVIRONMENT } from "./system-environment.js";

/** The kernel's first namespace of time, in which ticks since the boot are what they are: not worth naming. */
const FIRST_TIME_NAMESPACE = "time:[4026531834]";

/** `given`: the machine's identity as a person gave it. Nothing that cannot be read is guessed. */
export function readPlace(given?: string, platform: string = process.platform): Place {
  const isLinux = platform === "linux";
  return {
    host: hostname(),
    machineId: given === undefined ? readText("/etc/machine-id") : `${GIVEN_MACHINE}${given}`,
    bootId: isLinux ? readText("/proc/sys/kernel/random/boot_id") : readBootTime(),
    namespace: isLinux ? readNamespace() : "",
  };
}

/** A process that sees ticks of another beginning compares none of ours. */
function readNamespace(): string {
  const time = readLink("/proc/self/ns/time");
  const numbers = readLink("/proc/self/ns/pid");
  return time === "" || time === FIRST_TIME_NAMESPACE ? numbers : `${numbers} ${time}`;
}

function readBootTime(): string {
  const options = { encoding: "utf8", env: SYSTEM_ENVIRONMENT } as const;
  const answer = spawnSync("sysctl", ["-n", "kern.boottime"], options).stdout ?? "";
  return /sec = (\d+), usec = (\d+)/.exec(answer)?.slice(1).join(".") ?? "";
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
