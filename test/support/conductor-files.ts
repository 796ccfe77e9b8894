/** Rows of whole files in Conductor's form, and how one is run here: unmodified, in a place of its own, with a scripted model. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../../src/base/json.js";
import { openSplashdown, type Splashdown } from "../../src/index.js";
import { createOwnEnvironment } from "./own-environment.js";

/** `path`: the steps in the order of their first visits; without it an error, of the file or in the run. */
export type Ended = { readonly output: JsonValue; readonly path: readonly string[] } | { readonly error: string };

export interface Row {
  readonly kind: string;
  /** Put in for `@1@`, `@2@` … of the kind's files. */
  readonly with?: readonly string[];
  /** Texts of the command line. */
  readonly input?: Readonly<Record<string, string>>;
  /** Answers of the model by step, over those of the kind; the last one is said again. */
  readonly say?: Readonly<Record<string, readonly JsonValue[]>>;
  readonly expected: Ended | { readonly refused: string };
}

interface Kind {
  readonly files: Readonly<Record<string, string>>;
  readonly say?: Row["say"];
}

interface Table {
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly rows: readonly Row[];
}

export function readRows(name: string): Table {
  return JSON.parse(readFileSync(join(import.meta.dirname, "../golden/conductor", name), "utf8")) as Table;
}

export const titleOf = ({ kind, with: parts = [], input, say }: Row): string =>
  [kind, ...parts, ...[input, say].flatMap((given) => (given === undefined ? [] : [JSON.stringify(given)]))].join(
    " · ",
  );

/** As Conductor ended: a refused file is an error, and a step that comes again is named once. */
export function expectedOf({ expected }: Row): Ended {
  if ("refused" in expected) return { error: expected.refused };
  return "error" in expected ? expected : { ...expected, path: [...new Set(expected.path)] };
}

/** Errors: none; what is told of a file or a run that did not end well is the answer. */
export async function runRow({ kinds }: Table, row: Row, folder: string): Promise<Ended> {
  const { files, say } = kinds[row.kind] as Kind;
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), fillIn(text, row.with ?? []));
  const said = Object.entries({ ...say, ...row.say }).map(([step, says]) => [step, says.map(answerOf)]);
  const settings = { provider_map: { copilot: "scripted" }, scripted_answers: Object.fromEntries(said) as JsonObject };
  writeFileSync(join(folder, "splashdown.config.yaml"), JSON.stringify(settings), { mode: 0o600 });
  const environment = createOwnEnvironment(folder, { SPLASHDOWN_TRUST: "1", PATH: process.env["PATH"] ?? "" });
  const splashdown = await openSplashdown({ store: "memory:", environment });
  try {
    return await runFile(splashdown, join(folder, "flow.yaml"), row.input ?? {});
  } catch (error) {
    return { error: (error as Error).message };
  } finally {
    await splashdown.close();
  }
}

async function runFile(splashdown: Splashdown, workflow: string, inputTexts: Row["input"]): Promise<Ended> {
  const task = "t";
  const view = await splashdown.run({ workflow, task, inputTexts: inputTexts ?? {}, skipGates: true });
  if (!["done", "partial"].includes(view.status) || view.output === undefined)
    return { error: `${view.status}: ${view.reason}` };
  const { steps } = await splashdown.show(task);
  const names = steps.map(({ step }) => /^main\/([^/@[]+)/.exec(step)?.[1] ?? step);
  return { output: view.output, path: [...new Set(names)] };
}

const fillIn = (text: string, parts: readonly string[]): string =>
  parts.reduce((all, part, at) => all.replaceAll(`@${at + 1}@`, () => part), text);

/** The price that the files give a million tokens makes three dollars of this. */
const answerOf = (say: JsonValue): JsonObject => ({ say, usage: { input_tokens: 2, output_tokens: 1 }, cost_usd: 3 });
