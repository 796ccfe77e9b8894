/**
 * Reads the text of a payload: the picture of the task, and the state for a restart.
 *
 * Owns: the division of the text in two lines, the comparison of picture, state and header. What is in the state is the
 * engine's. The text was authenticated before it comes here.
 */
import { messageOf, SplashdownError } from "../../base/errors.js";
import type { StepId } from "../../base/ids.js";
import type { ValueRef } from "../../engine/model/value-ref.js";
import { decodeState } from "../../engine/model/state-codec.js";
import type { TaskState } from "../../engine/model/state.js";
import type { CheckpointHeader } from "../../schema/generated/checkpoint-header.js";
import {
  type CheckpointOutput,
  type CheckpointPayload,
  validateCheckpointPayload,
} from "../../schema/generated/checkpoint-state.js";
import { describeDefect } from "./layout.js";
import { decodeDecision, type OutputEntry, PAYLOAD_SCHEMA } from "./capture.js";

/** The payload without the engine's state. */
export type CheckpointSummary = Omit<CheckpointPayload, "state">;

const LF = 0x0a;
const STATE_START = '"state":';

/**
 * The picture alone, checked against its schema and the header.
 *
 * Errors: FORMAT_VERSION when a newer version wrote it, CHECKPOINT_CORRUPT, TASK_SWAPPED.
 */
export function decodeSummary(text: Buffer, header: CheckpointHeader): CheckpointSummary {
  if (header.schema > PAYLOAD_SCHEMA) {
    throw new SplashdownError(
      "FORMAT_VERSION",
      `the payload has schema ${header.schema}, this version reads up to ${PAYLOAD_SCHEMA}`,
    );
  }
  const end = text.indexOf(LF);
  if (end < 1) throw corrupt("the payload is not in two lines");
  const verdict = validateCheckpointPayload(parseJson(`${text.toString("utf8", 0, end)}${STATE_START}{}}`));
  if (!verdict.ok) throw corrupt(describeDefect("payload", verdict.defects));
  const { state: _placeholder, ...picture } = verdict.value;
  requireSameCheckpoint(picture, header);
  return picture;
}

/**
 * The picture's decisions and outputs put back into the engine's state.
 *
 * Errors: as `decodePicture`, and what the engine's codec finds.
 */
export function decodePayload(text: Buffer, header: CheckpointHeader): TaskState {
  const picture = decodeSummary(text, header);
  const start = text.indexOf(LF) + 1;
  const line = text.toString("utf8", start);
  if (!line.startsWith(STATE_START) || !line.endsWith("}")) throw corrupt("the payload has no state");
  const state = decodeState(line.slice(STATE_START.length, -1));
  for (const decision of picture.decisions) state.decisions.push(decodeDecision(decision));
  for (const output of picture.outputs) state.outputs.set(output.path, restoreOutput(output, state));
  if (state.position !== header.journal.n)
    throw corrupt(`the state stands at record ${state.position}, the header says ${header.journal.n}`);
  requireChain(state, header);
  return state;
}

function restoreOutput(output: CheckpointOutput, state: TaskState): OutputEntry {
  const value =
    output.value === undefined ? state.steps.get(output.by as StepId)?.output : (output.value as unknown as ValueRef);
  if (value === undefined) throw corrupt(`the output of ${output.path} is of a step ${output.by} that has none`);
  return Object.freeze({ value, by: output.by });
}

function requireSameCheckpoint(picture: CheckpointSummary, header: CheckpointHeader): void {
  const isSame =
    picture.checkpoint_id === header.checkpoint_id &&
    picture.workflow_id === header.workflow_id &&
    picture.timestamp === header.timestamp &&
    picture.phase === header.phase &&
    (header.status === undefined || header.status === picture.status) &&
    (header.trigger === undefined || header.trigger === picture.trigger) &&
    (header.workflow_name === undefined || picture.workflow?.startsWith(header.workflow_name) === true);
  if (!isSame) throw corrupt("the payload is of another checkpoint than the header says");
}

/** The file before, as the header names it, must be the one that the state knows under that id. */
function requireChain(state: TaskState, header: CheckpointHeader): void {
  const { prev } = header;
  if (prev === null) return;
  const known = state.checkpoints.find((entry) => entry.checkpointId === prev.checkpoint_id);
  if (known?.snapshot === undefined || known.snapshot.sha256 === prev.sha256) return;
  throw new SplashdownError(
    "TASK_SWAPPED",
    `the file follows a checkpoint ${known.seq} other than the one of this task`,
    {
      details: { expected: known.snapshot.sha256, found: prev.sha256 },
    },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SplashdownError("CHECKPOINT_CORRUPT", `the payload is not JSON: ${messageOf(error)}`, { cause: error });
  }
}

function corrupt(message: string): SplashdownError {
  return new SplashdownError("CHECKPOINT_CORRUPT", message);
}
