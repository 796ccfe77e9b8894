/**
 * Children in process groups, started only after their identity is durable, ended as whole trees.
 *
 * P1: a child waits before it executes the program until `release()`; between spawn and release the caller makes
 *     `spawned` durable. P2: when the owner dies, however it dies, the keeper ends every group it was told of.
 * P3: ending a group is TERM, then KILL after the grace time, and waits until the group is empty. Whoever is ended, is ended
 *     with its tree: what left the group is found by its environment and by its parents (process-tree.ts).
 * P6: what no task's record knows of stands in the roll before its program may run, and the next owner on this machine ends
 *     it where its own owner, keeper included, is gone.
 * Source: DESIGN section 3.6.
 */
import type { Place } from "../base/place.js";

/** What identifies a process beyond its reusable number: its start, and where both mean something. */
export interface ProcessIdentity extends Place {
  readonly pid: number;
  /** Start time in clock ticks since boot, as the kernel tells it; seconds since the epoch where there is no /proc. */
  readonly startTicks: number;
  /** What the environment of everything holds that descends from a child of ours; absent for other processes. */
  readonly mark?: string;
}

/** `unclear`: it is of another namespace or machine, and nothing here tells whether it still runs. */
export type GroupState = "running" | "gone" | "unclear";

export interface ChildSpec {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly folder?: string;
  /** The whole environment of the child, beside the mark of its group; nothing is inherited. Names that no shell can hold (`a.b`) are left out. */
  readonly environment: Readonly<Record<string, string>>;
  /** Written to the child's stdin, which is then closed; absent: stdin is empty. */
  readonly input?: string | Uint8Array;
  /** What the child writes to stdout comes here, and is not kept. */
  readonly onStdout?: (chunk: Buffer) => void;
  /** The child's stdin stays open for `write`. */
  readonly keepsInput?: boolean;
  /** Opens descriptor 3 as a pipe of JSON lines; each line is handed over as text. */
  readonly onControlLine?: (line: string, isCut: boolean, problem?: string) => void;
  readonly onStderr?: (chunk: string) => void;
  /** Called whenever bytes come from the child, on whichever descriptor. */
  readonly onActivity?: () => void;
  readonly stdoutBytesMax: number;
  readonly stderrTailBytes: number;
  /** No task's record will know of it: it is noted in the roll (P6). */
  readonly isNoted?: boolean;
}

/** A process, and the one that began it. */
export interface NotedProcess {
  readonly owner: ProcessIdentity;
  readonly process: ProcessIdentity;
}

/** Processes that no task's record knows of, kept where the next owner on this machine looks. Errors: none. */
export interface ProcessRoll {
  add(noted: NotedProcess): Promise<void>;
  drop(noted: NotedProcess): Promise<void>;
  list(): Promise<readonly NotedProcess[]>;
}

export interface ChildResult {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: Buffer;
  readonly stderrTail: string;
  readonly durationMs: number;
  /** The child wrote more than `stdoutBytesMax` and was ended for it. */
  readonly stdoutOverflow: boolean;
  /** Members of the group outlived the program and were ended: a child is over when its group is empty. */
  readonly leftoversEnded: boolean;
}

export interface Child {
  readonly identity: ProcessIdentity;
  /** Lets the child execute its program. Errors: PROGRAM_NOT_FOUND comes from `result`. */
  release(): void;
  /** Writes to the stdin of a child with `keepsInput`; what a dead child does not read is lost. */
  write(text: string): void;
  /** Settles when nothing of the group runs. Errors: PROGRAM_NOT_FOUND; STEP_FAILED when a member cannot be ended. */
  readonly result: Promise<ChildResult>;
  /** Ends the whole group and waits for it. */
  end(graceMs: number): Promise<void>;
}

export interface ProcessHost {
  readonly self: ProcessIdentity;
  /**
   * Spawns into a new process group; the child waits for `release`.
   *
   * Errors: PROGRAM_NOT_FOUND (also a missing folder, a file that may not be executed), VALUE_UNSUPPORTED (a NUL),
   * VALUE_TOO_LARGE (more than the system takes), STORE_BUSY.
   */
  spawn(spec: ChildSpec): Promise<Child>;
  /** Whether that very process (not a later one with its number) still exists, or any member of its group does. */
  groupState(identity: ProcessIdentity): Promise<GroupState>;
  /** Ends a surviving group of an earlier owner and waits until it is empty; one of another place is left alone. */
  endGroup(identity: ProcessIdentity, graceMs: number): Promise<void>;
  /** Ends what stands in the roll and has lost its owner (P6). Errors: none; what cannot be ended stays there. */
  endAbandoned(): Promise<void>;
  /** Ends every child and the keeper. */
  close(): Promise<void>;
}
