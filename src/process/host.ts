/**
 * The process host of the running system: spawns children into groups of their own, behind a gate, known to the keeper.
 *
 * Owns: the children of this owner. `child.ts` owns one child's streams and result, `keeper.ts` what happens when the
 * owner dies, `launcher.ts` the gate. Invariants P1–P5 stand in `contract.ts` and in those files. Linux is what it is
 * made for; other systems of the Unix family work with the coarser identities that process-table.ts states.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync } from "node:fs";
import type { Clock } from "../base/clock.js";
import { SplashdownError, assert, errnoOf, isErrorCode, messageOf } from "../base/errors.js";
import { LIMITS } from "../base/limits.js";
import { hasBootedSince, isSamePlace, type Place } from "../base/place.js";
import { GroupChild } from "./child.js";
import type {
  Child,
  ChildSpec,
  GroupState,
  NotedProcess,
  ProcessHost,
  ProcessIdentity,
  ProcessRoll,
} from "./contract.js";
import { requireDescriptors } from "./descriptors.js";
import { endTree, isTreeRunning, type GroupEnding } from "./group-ending.js";
import { openInputFile } from "./input-file.js";
import { Keeper } from "./keeper.js";
import { prepareLaunch, type Launch } from "./launcher.js";
import { isShortage, openProcessTable, type ProcessEntry, type ProcessTable } from "./process-table.js";
import { createMark } from "./process-tree.js";
import { MARK_VARIABLE } from "./system-environment.js";

export interface ProcessHostOptions {
  readonly clock: Clock;
  /** Where this process runs, as it is read unless given. */
  readonly place?: Place;
  /** Where processes are looked up; the platform's own unless a test gives another. */
  readonly table?: ProcessTable;
  /** Where children are noted that no task's record knows of; absent: nowhere. */
  readonly roll?: ProcessRoll | undefined;
  /** What ends the groups of a dead owner; a test may give one that does not work. */
  readonly keeper?: Keeper;
}

const BUSY_PAUSE_MS = 50;

/** Opens the host of this process; `close` ends its children. */
export function openProcessHost(options: ProcessHostOptions): SystemProcessHost {
  return new SystemProcessHost(options);
}

export class SystemProcessHost implements ProcessHost {
  readonly self: ProcessIdentity;
  readonly #ending: GroupEnding;
  readonly #keeper: Keeper;
  readonly #roll: ProcessRoll | undefined;
  readonly #children = new Set<GroupChild>();
  #abandonedEnded: Promise<void> | undefined;
  #isClosed = false;
  #spawned = 0;

  constructor(options: ProcessHostOptions) {
    this.#ending = { clock: options.clock, table: options.table ?? openProcessTable(process.platform, options.place) };
    this.#keeper = options.keeper ?? new Keeper({ clock: options.clock });
    this.#roll = options.roll;
    this.self = this.#identityOf(this.#requireEntry(process.pid));
  }

  /** Number of the keeper's process; `undefined` before the first child. */
  get keeperPid(): number | undefined {
    return this.#keeper.pid;
  }

  async spawn(spec: ChildSpec): Promise<Child> {
    assert(!this.#isClosed, "a closed process host was asked to spawn");
    if (spec.isNoted === true) await (this.#abandonedEnded ??= this.endAbandoned());
    this.#spawned += 1;
    const mark = createMark(this.self, this.#spawned);
    const launch = await prepareLaunch(spec);
    launch.environment[MARK_VARIABLE] = mark;
    const { launcher, leader } = await this.#launchPatiently(spec, launch);
    const noted: NotedProcess = { owner: this.self, process: { ...this.#identityOf(leader), mark } };
    const child = new GroupChild({
      spec,
      process: launcher,
      identity: noted.process,
      ending: this.#ending,
      onEmpty: () => {
        this.#keeper.drop(leader.pid);
        this.#children.delete(child);
        if (spec.isNoted === true) void this.#roll?.drop(noted);
      },
    });
    this.#children.add(child);
    try {
      await this.#keeper.add({ ...leader, mark });
      if (spec.isNoted === true) await this.#roll?.add(noted);
      return child;
    } catch (error) {
      await child.end(0);
      throw error;
    }
  }

  async groupState(identity: ProcessIdentity): Promise<GroupState> {
    const { table } = this.#ending;
    if (isSamePlace(identity, table.place)) return (await isTreeRunning(table, identity)) ? "running" : "gone";
    return hasBootedSince(identity, table.place) ? "gone" : "unclear";
  }

  async endGroup(identity: ProcessIdentity, graceMs: number): Promise<void> {
    await endTree(this.#ending, identity, graceMs);
  }

  async endAbandoned(): Promise<void> {
    for (const noted of (await this.#roll?.list()) ?? []) {
      if (!this.#hasEnded(noted.owner)) continue;
      try {
        await this.endGroup(noted.process, LIMITS.killGraceMs);
        await this.#roll?.drop(noted);
      } catch {
        // Of another user: it only looks, or gives a key, so nobody waits for it.
      }
    }
  }

  /** Provably: what is of another place may run. */
  #hasEnded(owner: ProcessIdentity): boolean {
    const { table } = this.#ending;
    if (!isSamePlace(owner, table.place)) return hasBootedSince(owner, table.place);
    const entry = table.read(owner.pid);
    return entry === undefined || entry.startTicks !== owner.startTicks || entry.isZombie;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // What cannot be ended was told by the child's result.
    await Promise.allSettled([...this.#children].map((child) => child.end(LIMITS.killGraceMs)));
    await this.#keeper.close();
  }

  #requireEntry(pid: number): ProcessEntry {
    const entry = this.#ending.table.read(pid);
    assert(entry !== undefined, `the process table has no entry for ${pid}`);
    return entry;
  }

  #identityOf(entry: ProcessEntry): ProcessIdentity {
    return { pid: entry.pid, startTicks: entry.startTicks, ...this.#ending.table.place };
  }

  /** Tries again for a while when the system is short of descriptors or processes. */
  async #launchPatiently(spec: ChildSpec, launch: Launch): Promise<Launched> {
    const giveUpAtMs = this.#ending.clock.monotonicMs() + LIMITS.storeRetryMs;
    for (;;) {
      try {
        requireDescriptors();
        this.#keeper.start();
        return this.#identify(await startLauncher(spec, launch));
      } catch (error) {
        const isBusy = isShortage(error) || isErrorCode(error, "STORE_BUSY");
        if (!isBusy || this.#ending.clock.monotonicMs() >= giveUpAtMs) throw launchError(spec, error);
        await this.#ending.clock.sleep(BUSY_PAUSE_MS);
      }
    }
  }

  #identify(launcher: ChildProcess): Launched {
    try {
      return { launcher, leader: this.#requireEntry(launcher.pid ?? 0) };
    } catch (error) {
      // It waits at a gate that nobody will open.
      launcher.kill("SIGKILL");
      for (const stream of launcher.stdio) stream?.destroy();
      throw error;
    }
  }
}

interface Launched {
  readonly launcher: ChildProcess;
  readonly leader: ProcessEntry;
}

async function startLauncher(spec: ChildSpec, launch: Launch): Promise<ChildProcess> {
  const inputFile = spec.input === undefined ? undefined : openInputFile(Buffer.from(spec.input));
  try {
    const child = spawn(launch.file, launch.arguments, {
      cwd: spec.folder,
      detached: true,
      env: launch.environment,
      stdio: [
        inputFile ?? (spec.input === undefined && spec.keepsInput !== true ? "ignore" : "pipe"),
        "pipe",
        "pipe",
        spec.onControlLine === undefined ? "ignore" : "pipe",
        "pipe",
      ],
    });
    if (child.pid !== undefined) return child;
    const [error] = (await once(child, "error")) as [Error];
    throw error;
  } finally {
    if (inputFile !== undefined) closeSync(inputFile);
  }
}

function launchError(spec: ChildSpec, error: unknown): SplashdownError {
  const options = { cause: error, details: { program: spec.program } };
  const text = `${spec.program} cannot be started: ${messageOf(error)}`;
  if (isErrorCode(error, "STORE_BUSY", "INTERNAL")) return error as SplashdownError;
  if (errnoOf(error) === "E2BIG") {
    return new SplashdownError("VALUE_TOO_LARGE", `${text}; hand large values over on stdin`, options);
  }
  return new SplashdownError(isShortage(error) ? "STORE_BUSY" : "PROGRAM_NOT_FOUND", text, options);
}
