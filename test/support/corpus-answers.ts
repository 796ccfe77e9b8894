/**
 * Answers of a scripted model for a workflow file that somebody else wrote: one that fits the `output` of every model
 * step, first as someone who is not content says it, then as someone who is. So loops are taken, and left.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import type { JsonObject, JsonValue } from "../../src/base/json.js";

interface Field {
  readonly type?: string;
  readonly items?: Field;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly enum?: readonly JsonValue[];
}

interface Agent {
  readonly name: string;
  readonly type?: string;
  readonly provider?: string;
  readonly output?: Readonly<Record<string, Field>>;
  readonly workflow?: string;
}

interface Group {
  readonly agent: Agent;
}

interface CorpusFile {
  readonly workflow: {
    readonly runtime?: { readonly provider?: string | { readonly name: string } };
    readonly input?: Readonly<Record<string, { readonly default?: JsonValue }>>;
  };
  readonly agents: readonly Agent[];
  readonly for_each?: readonly Group[];
}

/** What some steps say instead, by step and field. */
export type Sayings = Readonly<Record<string, JsonObject>>;

/** Long enough that a kill meets a step under way. */
const DELAY_MS = 15;

/** Settings under which the file runs without a model. Shape: for `splashdown.config.yaml`; JSON is YAML. */
export function settingsFor(file: string, sayings: Sayings): string {
  const agents = agentsOf(file);
  const providers = new Set(agents.flatMap(({ provider }) => (provider === undefined ? [] : [provider])));
  const answers = agents
    .filter(({ type = "agent" }) => type === "agent")
    .map((agent) => [agent.name, answersOf(agent, sayings[agent.name] ?? {})] as const);
  return JSON.stringify({
    // A step that three kills meet is no step that kills its owner.
    recovery_config: { max_recovery_attempts: 100 },
    provider_map: Object.fromEntries([...providers].map((name) => [name, "scripted"])),
    scripted_answers: Object.fromEntries(answers),
  });
}

/** A text for each input that has no default. */
export function inputsFor(file: string): Readonly<Record<string, string>> {
  const { input = {} } = (parse(readFileSync(file, "utf8")) as CorpusFile).workflow;
  const open = Object.entries(input).filter(([, { default: value }]) => value === undefined);
  return Object.fromEntries(open.map(([name]) => [name, `some ${name}`]));
}

/** The steps of a file and of those it names, with the provider of each. */
function agentsOf(file: string): Agent[] {
  const { workflow, agents, for_each: groups = [] } = parse(readFileSync(file, "utf8")) as CorpusFile;
  const { provider = "copilot" } = workflow.runtime ?? {};
  const own = [...agents, ...groups.map(({ agent }) => agent)];
  const named = own.flatMap((agent) =>
    agent.workflow === undefined ? [] : agentsOf(join(dirname(file), agent.workflow)),
  );
  const usual = typeof provider === "string" ? provider : provider.name;
  return [...own.map((agent) => ({ ...agent, provider: agent.provider ?? usual })), ...named];
}

function answersOf({ output, name }: Agent, said: JsonObject): JsonValue {
  return [false, true].map((isContent) => {
    const say = Object.entries(output ?? {}).map(([field, { ...shape }]) => [
      field,
      said[field] ?? sampleOf(shape, `${name} ${field}`, isContent),
    ]);
    return {
      say: output === undefined ? `text of ${name}` : (Object.fromEntries(say) as JsonObject),
      delay_ms: DELAY_MS,
    };
  });
}

function sampleOf(field: Field, text: string, isContent: boolean): JsonValue {
  if (field.enum !== undefined) return field.enum[isContent ? field.enum.length - 1 : 0] ?? null;
  switch (field.type) {
    case "boolean":
      return isContent;
    case "number":
      return isContent ? 95 : 5;
    case "array":
      return [1, 2, 3].map((count) => sampleOf(field.items ?? { type: "string" }, `${text} ${count}`, isContent));
    case "object":
      return Object.fromEntries(
        Object.entries(field.properties ?? {}).map(([key, inner]) => [
          key,
          sampleOf(inner, `${text} ${key}`, isContent),
        ]),
      );
    default:
      return text;
  }
}
