/**
 * The state as JSON: captured at once by reference, encoded later in pieces.
 *
 * Owns: the form of a state inside snapshots. Capturing copies containers and no entry (E4), so it costs about as much as
 * copying a few arrays; later events do not show in it. Encoding gives pieces of one entry each, a large entry in several, so
 * that a caller can stop between two and keep its slices short. Maps become lists in their order, which is part of the state.
 * Measured on Node 20: see state-codec.test.ts for the bounds that are held.
 */
import { sha256Hex } from "../../base/digest.js";
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import { encodeJsonPieces } from "../../base/json-pieces.js";
import type { TaskState } from "./state.js";
import { decodeSections } from "./state-sections.js";

export const STATE_SCHEMA = 1;

interface CapturedMap {
  readonly keys: readonly string[];
  readonly values: readonly unknown[];
}

/** References to the entries of a state at one position; unaffected by later events. */
export interface CapturedState {
  readonly position: number;
  readonly atMs: number;
  readonly scalars: Readonly<Record<string, unknown>>;
  /** Lists of entries, by section. */
  readonly lists: Readonly<Record<string, readonly unknown[]>>;
  /** Keys and values side by side, by section. */
  readonly maps: Readonly<Record<string, CapturedMap>>;
}

/** Copies the containers, not the entries. */
export function captureState(state: TaskState): CapturedState {
  return {
    position: state.position,
    atMs: state.atMs,
    scalars: { epoch: state.epoch, round: state.round, task: state.task ?? null, totals: state.totals },
    lists: {
      steps: [...state.steps.values()],
      open: [...state.open],
      waiting: [...state.waiting],
      blocked: [...state.blocked],
      scopes: [...state.scopes.values()],
      decisions: state.decisions.slice(),
      ...(state.guidance.length === 0 ? {} : { guidance: state.guidance.slice() }),
      questions: [...state.questions.values()],
      unsettled: [...state.unsettled],
      phases: [...state.phases.values()],
      evaluations: state.evaluations.slice(),
      checkpoints: state.checkpoints.slice(),
      deliverables: [...state.deliverables.values()],
      ...(state.servers.size === 0 ? {} : { servers: [...state.servers.values()] }),
    },
    maps: {
      visits: captureMap(state.visits),
      ...(state.rounds.size === 0 ? {} : { rounds: captureMap(state.rounds) }),
      outputs: captureMap(state.outputs),
      stored: captureMap(state.stored, (paths) => paths.slice()),
      channel: captureMap(state.channel),
      triggered: captureMap(state.triggered),
      histories: captureMap(state.histories, (history) => ({
        turns: history.turns.slice(),
        tools: [...history.tools],
        substeps: [...history.substeps],
      })),
      frontier: captureMap(state.frontier, (frontier) => ({
        ready: frontier.ready.slice(),
        waiting: [...frontier.waiting],
        ended: { keys: [...frontier.ended.keys()], values: [...frontier.ended.values()] },
        ...(frontier.causes.size === 0 ? {} : { causes: [...frontier.causes] }),
      })),
    },
  };
}

function captureMap<K extends string, V>(map: ReadonlyMap<K, V>, copy?: (value: V) => unknown): CapturedMap {
  const values = [...map.values()];
  return { keys: [...map.keys()], values: copy === undefined ? values : values.map(copy) };
}

/** The captured state as JSON text in small pieces, so that a caller may stop between two. */
export function* encodeCaptured(captured: CapturedState): Iterable<string> {
  yield `{"schema":${STATE_SCHEMA},"position":${captured.position},"atMs":${captured.atMs}`;
  for (const [name, value] of Object.entries(captured.scalars)) {
    yield `,"${name}":`;
    yield* encodeJsonPieces(value);
  }
  for (const [name, list] of Object.entries(captured.lists)) {
    yield `,"${name}":[`;
    for (let at = 0; at < list.length; at += 1) yield* prefixed(at === 0 ? "" : ",", list[at]);
    yield "]";
  }
  for (const [name, { keys, values }] of Object.entries(captured.maps)) {
    yield `,"${name}":[`;
    for (let at = 0; at < keys.length; at += 1) {
      yield* prefixed(`${at === 0 ? "" : ","}[${JSON.stringify(keys[at])},`, values[at]);
      yield "]";
    }
    yield "]";
  }
  yield "}";
}

/** The first piece with something before it: most entries are one. */
function* prefixed(prefix: string, value: unknown): Iterable<string> {
  let before = prefix;
  for (const piece of encodeJsonPieces(value)) {
    yield before + piece;
    before = "";
  }
}

/**
 * The reverse.
 *
 * Errors: FORMAT_VERSION when it was written by a newer version or has no version, CHECKPOINT_CORRUPT when it is no state.
 */
export function decodeState(json: string): TaskState {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new SplashdownError("CHECKPOINT_CORRUPT", "the state is not JSON", { cause: error });
  }
  if (!isJsonObject(value)) throw new SplashdownError("CHECKPOINT_CORRUPT", "the state is not an object");
  const { schema } = value;
  if (schema !== STATE_SCHEMA) {
    throw new SplashdownError(
      "FORMAT_VERSION",
      `the state has schema ${JSON.stringify(schema)}; this version reads ${STATE_SCHEMA}`,
    );
  }
  return decodeSections(value);
}

/** Hex digest of the state in canonical form: equal for equal states. For golden files and oracles. */
export function hashState(state: TaskState): string {
  const value = JSON.parse([...encodeCaptured(captureState(state))].join("")) as JsonValue;
  return sha256Hex(canonicalJson(value));
}
