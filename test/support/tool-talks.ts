/** Talks of model steps with tool servers, in a folder of their own: real programs, a model that asks for what a test wants. */
import { writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { ModelRequest } from "../../src/agents/outcome/contract.js";
import type { JsonObject } from "../../src/base/json.js";
import type { Clock } from "../../src/base/clock.js";
import type { ToolServer } from "../../src/definition/model/tool-definition.js";
import type { StepOutcome } from "../../src/engine/model/ports.js";
import { openPerformerRoom, type PerformerRoom, type RoomParts } from "./performer-room.js";
import { createRecordingSink, type RecordingSink } from "./recording-sink.js";
import { createStepWork, type WorkParts } from "./step-work.js";
import { createToldModel, type WishedCall } from "./told-model.js";

const PROJECT = path.join(import.meta.dirname, "../..");
export const STRANGE_SERVER = path.join(import.meta.dirname, "programs/strange-server.mjs");

const LISTED_SERVER = path.join(import.meta.dirname, "programs/listed-server.mjs");

/** A tool as its server tells it, and what becomes of a call of it. */
export interface ListedTool extends JsonObject {
  readonly name: string;
  readonly answer?: JsonObject;
  readonly error?: JsonObject;
}

/** The program of a public server. */
export function packageOf(name: string): string {
  return path.join(PROJECT, "node_modules/@modelcontextprotocol", name, "dist/index.js");
}

export interface Talk {
  /** Functions of the workflow, by reference. */
  readonly functions?: RoomParts["functions"];
  readonly servers: readonly ToolServer[];
  readonly turns: readonly (readonly WishedCall[])[];
  readonly parts?: WorkParts;
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
}

export interface RunningTalk {
  readonly ended: Promise<TalkEnd>;
  readonly sink: RecordingSink;
  readonly cancel: () => void;
}

export interface TalkEnd {
  readonly outcome: StepOutcome;
  readonly sink: RecordingSink;
  /** Of the calls, in order. */
  readonly results: readonly { readonly value?: unknown; readonly error?: string }[];
  readonly requests: readonly ModelRequest[];
  readonly room: PerformerRoom;
}

/** One folder and its rooms for each test of a file. */
export class ToolTalks {
  folder = "";
  readonly #rooms: PerformerRoom[] = [];

  constructor() {
    beforeEach(async () => {
      this.folder = await mkdtemp(path.join(tmpdir(), "splashdown-servers-"));
    });
    afterEach(async () => {
      await Promise.all(this.#rooms.splice(0).map((room) => room.close()));
      await rm(this.folder, { recursive: true });
    });
  }

  /** A room that is closed with the test. */
  open(parts: RoomParts): PerformerRoom {
    const room = openPerformerRoom(parts);
    this.#rooms.push(room);
    return room;
  }

  program(server: string, command: readonly string[], more: Partial<ToolServer> = {}): ToolServer {
    const environment = { LEDGER: path.join(this.folder, "ledger") };
    return { server, reach: { by: "stdio", command, environment }, allowed: [], policies: {}, ...more };
  }

  strange(manner: string, more: Partial<ToolServer> = {}): ToolServer {
    return this.program("odd", [process.execPath, STRANGE_SERVER, manner], more);
  }

  /** A server with these tools, answers and errors. */
  listed(tools: readonly ListedTool[], more: Partial<ToolServer> = {}): ToolServer {
    const server = more.server ?? "reg";
    const file = path.join(this.folder, `${server}.json`);
    writeFileSync(file, JSON.stringify(tools));
    return this.program(server, [process.execPath, LISTED_SERVER, file], more);
  }

  everything(more: Partial<ToolServer> = {}): ToolServer {
    return this.program("every", [process.execPath, packageOf("server-everything"), "stdio"], more);
  }

  /** What the strange server wrote down, line by line; of a file that is not there, nothing. */
  async read(name = "ledger"): Promise<string[]> {
    const text = await readFile(path.join(this.folder, name), "utf8").catch(() => "");
    return text.split("\n").filter((line) => line !== "");
  }

  async talk(talk: Talk): Promise<TalkEnd> {
    return this.begin(talk).ended;
  }

  /** A talk under way. */
  begin({ servers, turns, parts = {}, environment = {}, functions, clock }: Talk): RunningTalk {
    const told = createToldModel(turns);
    const searched = process.env["PATH"] ?? "";
    const room = this.open({
      modelOf: () => told.model,
      environment: { PATH: searched, ...environment },
      ...(functions === undefined ? {} : { functions }),
      ...(clock === undefined ? {} : { clock }),
    });
    const sink = createRecordingSink();
    const { definition, ...rest } = parts;
    const work = createStepWork("model", {
      workflowFolder: this.folder,
      definition: { provider: "told", tools: servers, ...definition },
      ...rest,
    });
    const end = new AbortController();
    const ended = room.perform(work, { sink, signal: end.signal }).then((outcome): TalkEnd => {
      const results = sink.of("toolCompleted").map(([, result]) => result as TalkEnd["results"][number]);
      return { outcome, sink, results, requests: told.requests, room };
    });
    return { ended, sink, cancel: () => end.abort() };
  }
}

export function errorOf(
  outcome: StepOutcome,
): Extract<StepOutcome, { readonly status: "failed" }>["error"] | undefined {
  return outcome.status === "failed" ? outcome.error : undefined;
}
