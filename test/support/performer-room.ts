/** A performer over real processes, with a log that is kept. */
import type { JsonObject } from "../../src/base/json.js";
import type { Log } from "../../src/base/log.js";
import type { PerformerDeps } from "../../src/agents/outcome/contract.js";
import { openFunctionGuard } from "../../src/agents/outcome/function-guard.js";
import { createPerformer } from "../../src/agents/performer.js";
import { createModelSource } from "../../src/agents/models/scripted-model.js";
import { createToolServers } from "../../src/agents/tools/servers/server-pool.js";
import type { Performer, StepOutcome, StepWork } from "../../src/engine/model/ports.js";
import { openProcessHost, type SystemProcessHost } from "../../src/process/host.js";
import { compileSchema } from "../../src/schema/compile.js";
import { realClock } from "./real-clock.js";
import { createSeededRandom } from "./seeded-random.js";
import { createRecordingSink, type RecordingSink } from "./recording-sink.js";

export interface PerformerRoom {
  readonly performer: Performer;
  readonly host: SystemProcessHost;
  readonly warnings: readonly string[];
  /** Performs with a fresh sink and a signal that never fires, unless given. */
  perform(
    work: StepWork,
    ends?: { readonly sink?: RecordingSink; readonly signal?: AbortSignal },
  ): Promise<StepOutcome>;
  close(): Promise<void>;
}

export interface RoomParts extends Partial<PerformerDeps> {
  readonly answers?: JsonObject;
}

export function openPerformerRoom({ answers, ...parts }: RoomParts = {}): PerformerRoom {
  const clock = parts.clock ?? realClock;
  const host = openProcessHost({ clock: realClock });
  const warnings: string[] = [];
  const log: Log = { info: () => undefined, warn: (text) => void warnings.push(text), debug: () => undefined };
  const toolServers = createToolServers({
    clock,
    processes: () => host,
    recordOf: () => ({ spawned: async () => undefined, ended: () => undefined }),
    version: "0",
    debug: () => undefined,
    warn: (text) => void warnings.push(text),
  });
  const functionGuard = openFunctionGuard(log);
  const performer = createPerformer({
    clock,
    random: createSeededRandom("performer room"),
    log,
    processes: host,
    outputFolder: "/outputs/audit-1",
    environment: { PATH: "/usr/bin:/bin", HOME: "/root", LANG: "C.UTF-8" },
    functions: new Map(),
    toolServers,
    functionGuard,
    cliAgents: {},
    checkSchema: async (schema, value) => {
      const compiled = await compileSchema(schema);
      if (!compiled.ok) return compiled.defects;
      const verdict = compiled.validate(value);
      return verdict.ok ? [] : verdict.defects;
    },
    modelOf: createModelSource(answers, clock),
    chooseProvider: (provider, model) => ({ provider, model }),
    ...parts,
  });
  return {
    performer,
    host,
    warnings,
    perform: (work, { sink = createRecordingSink(), signal = new AbortController().signal } = {}) =>
      performer.perform(work, sink, signal),
    close: async () => {
      await toolServers.close();
      functionGuard.close();
      await host.close();
    },
  };
}
