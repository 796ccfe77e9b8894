/** What a scenario compares: how its tasks stand in the end, without what differs from life to life. */
import type { JsonObject, JsonValue } from "../../../src/base/json.js";
import { canonicalJson } from "../../../src/base/json-encoding.js";
import { sha256Hex } from "../../../src/base/digest.js";
import { contentOf, type DiskModel, type DiskNode } from "../../support/disk-model.js";
import type { ExploredPlace } from "./explored-place.js";

/** Status, result, steps and questions of every task. */
export async function pictureOfTasks(place: ExploredPlace): Promise<JsonObject> {
  const found: Record<string, JsonObject> = {};
  for (const { task } of await place.verbs.list()) {
    const { status, output, steps, questions, deliverables, damage, forked_from: fork } = await place.verbs.show(task);
    found[task] = {
      status,
      output: sha256Hex(canonicalJson(output ?? null)),
      steps: steps.map((step) => ({ path: step.path, status: step.status })),
      questions: questions.map(({ kind, status: state, answer }) => ({ kind, status: state, answer: answer ?? null })),
      deliverables: deliverables.map(({ file, sha256 }) => ({ file, sha256 })),
      damage: [...damage],
      fork: fork === undefined ? null : { task: fork.task, seq: fork.seq },
    };
  }
  return found;
}

/** Checkpoints of a task that nothing runs any more: which have a file, which can be reached. */
export async function pictureOfFiles(place: ExploredPlace, task: string): Promise<JsonValue> {
  const listed = await place.verbs.checkpoints.list(task);
  return listed.map(({ seq, phase, trigger, file, reachable, pinned }) => ({
    seq,
    phase,
    trigger,
    hasFile: file !== undefined,
    reachable: reachable ?? true,
    pinned: pinned ?? false,
  }));
}

/** Every file under a folder with its digest; audit trails and the marks of owners are left out. */
export function contentsOf(disk: DiskModel, folder: string): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (node: DiskNode, path: string): void => {
    if (/\/audit(\/|$)|\/owner-\d+$|\.tmp$|\.sock/.test(path)) return;
    if (node.kind === "folder") for (const [name, child] of node.entries) walk(child, `${path}/${name}`);
    if (node.kind === "file") found.set(path, sha256Hex(contentOf(node)));
  };
  try {
    walk(disk.find(folder), folder);
  } catch {
    // Not there: nothing in it.
  }
  return found;
}

/** Numbers and texts of the recorded events of a task. */
export async function eventsOf(place: ExploredPlace, task: string): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  for await (const { n, type, event } of place.verbs.events(task)) found.set(n, canonicalJson({ type, ...event }));
  return found;
}
