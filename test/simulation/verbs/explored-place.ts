/**
 * One process of a scenario: the verbs, the workflow whose steps note what they do to the world, and the way on after a
 * crash as a person goes it.
 */
import { dirname } from "node:path";
import type { Clock } from "../../../src/base/clock.js";
import type { FileSystem } from "../../../src/base/file-system.js";
import { errorCodeOf, isErrorCode } from "../../../src/base/errors.js";
import type { FunctionContext, PlanView, RunView, Splashdown } from "../../../src/index.js";
import { openVerbRoom, startMachine, type Machine, type StoreOf } from "./verb-room.js";

/** What a step did to the world: each key should act for one step only, and each step under one key per round. */
export interface Act {
  /** Operations the disk had done. */
  readonly at: number;
  readonly step: string;
  readonly key: string;
}

export interface PlaceOptions {
  readonly fileSystem: FileSystem;
  readonly now: () => number;
  readonly seed: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly every?: Clock["every"];
  readonly store?: StoreOf | undefined;
}

type StepBody = (context: FunctionContext, place: ExploredPlace) => unknown;

/** Bodies by name; the workflow refers to them, and they reach the place they run in through it. */
export type Bodies = Readonly<Record<string, StepBody>>;

export type WorkflowOf = (call: (step: string) => (context: FunctionContext) => unknown) => object;

/** What a caller was told, and how many operations the disk had done by then. */
export interface Told {
  readonly at: number;
  readonly what: string;
}

export class ExploredPlace {
  readonly acts: Act[] = [];
  readonly told: Told[] = [];
  readonly workflow: object;
  readonly verbs: Splashdown;
  readonly #machine: Machine;
  readonly #options: PlaceOptions;
  #others = 0;

  private constructor(parts: {
    options: PlaceOptions;
    workflow: WorkflowOf;
    bodies: Bodies;
    machine: Machine;
    verbs: Splashdown;
  }) {
    const { options, workflow, bodies, machine, verbs } = parts;
    this.#options = options;
    this.#machine = machine;
    this.verbs = verbs;
    this.workflow = workflow((step) => async (context) => {
      this.acts.push({ at: options.now(), step, key: context.idempotencyKey });
      return (await bodies[step]?.(context, this)) ?? { output: { did: step } };
    });
  }

  static async open(
    options: PlaceOptions,
    plot: { workflow: WorkflowOf; bodies?: Bodies },
    startMs = 0,
  ): Promise<ExploredPlace> {
    const machine = startMachine();
    const verbs = await openVerbRoom({ ...options, machine, startMs });
    return new ExploredPlace({ options, machine, verbs, workflow: plot.workflow, bodies: plot.bodies ?? {} });
  }

  /** Its caller was told that something is done. */
  tell(what: string): void {
    this.told.push({ at: this.#options.now(), what });
  }

  /** Another process on the same machine; `wrap` stands between it and the disk. */
  another(wrap: (fileSystem: FileSystem) => FileSystem = (same) => same): Promise<Splashdown> {
    this.#others += 1;
    const seed = `${this.#options.seed}, beside it ${this.#others}`;
    const fileSystem = wrap(this.#options.fileSystem);
    return openVerbRoom({ ...this.#options, fileSystem, seed, machine: this.#machine, startMs: 0 });
  }

  /** Operations the disk has done. */
  now(): number {
    return this.#options.now();
  }

  /** Names of the files of a folder that have a text in them. */
  async namesWith(folder: string, text: string): Promise<string[]> {
    const { fileSystem } = this.#options;
    const found: string[] = [];
    for (const name of await fileSystem.readdir(folder)) {
      const handle = await fileSystem.open(`${folder}/${name}`, "read").catch(() => undefined);
      if (handle === undefined) continue;
      const { sizeBytes } = await handle.stat();
      if (Buffer.from(await handle.read(0, sizeBytes)).includes(text)) found.push(name);
      await handle.close();
    }
    return found;
  }

  /** As a program does that writes a file into its task's folder by itself. */
  async putFile(path: string, text: string): Promise<void> {
    const handle = await this.#options.fileSystem.open(path, "create");
    await handle.write(Buffer.from(text));
    await handle.sync();
    await handle.close();
    await this.#options.fileSystem.syncFolder(dirname(path));
  }

  async run(task: string, inputs = {}): Promise<RunView> {
    return this.verbs.run({ workflow: this.workflow, task, inputs });
  }

  /** Takes the task up after a crash, or starts it where nothing had been recorded. */
  async goOn(task: string, options: { from?: string } = {}): Promise<RunView | PlanView> {
    try {
      return await this.verbs.resume({ task, workflow: this.workflow, takeOver: true, ...options });
    } catch (error) {
      if (!isErrorCode(error, "TASK_NOT_STARTED", "TASK_NOT_FOUND")) throw error;
      return await this.run(task);
    }
  }

  /** Does it again; one of these codes says that it was done already. */
  async repeat<T>(act: () => Promise<T>, ...codes: readonly string[]): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      if (codes.includes(errorCodeOf(error) ?? "")) return undefined;
      throw error;
    }
  }
}
