/**
 * Tries attacks on a task, one after another: each is refused by name, or is asked about, or changes nothing.
 *
 * Owns: the judgement. The person goes on as always (`resume` with the answer of the second gate); the machine remembers
 * what it has acknowledged. A payment that was made before is never made again, the last one at most once, and what the
 * task gives in the end is what it would have given.
 */
import { errorCodeOf, messageOf } from "../../../src/base/errors.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import type { DiskModel, FileNode, FolderNode } from "../../support/disk-model.js";
import { createDiskImage } from "../disk-image.js";
import { ExploredPlace } from "../verbs/explored-place.js";
import { createAttackScene, FOLDER, PAYMENTS, TASK, type AttackScene } from "./attack-scene.js";
import { listAttacks, type Attack } from "./attacks.js";

export interface AttackReport {
  readonly tried: number;
  /** By what became of them: a code, or the status of the task. */
  readonly outcomes: ReadonlyMap<string, number>;
  readonly violations: readonly string[];
}

export interface AttackSettings {
  /** Every so manieth attack, from which one on. */
  readonly every: number;
  readonly from?: number;
  /** Only those whose name fits. */
  readonly only?: RegExp;
  readonly stopsAtViolation?: boolean;
}

export async function exploreAttacks(settings: AttackSettings): Promise<AttackReport> {
  const { every, from = 0, only = /./, stopsAtViolation = false } = settings;
  const scene = await createAttackScene();
  const outcomes = new Map<string, number>();
  const violations: string[] = [];
  let tried = 0;
  let at = -1;
  for (const attack of listAttacks(scene)) {
    if (!only.test(attack.name)) continue;
    at += 1;
    if (at % every !== from) continue;
    tried += 1;
    const { outcome, violation } = await tryAttack(scene, attack);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (violation === undefined) continue;
    violations.push(`${attack.name}: ${violation}`);
    if (stopsAtViolation) break;
  }
  return { tried, outcomes, violations };
}

interface Verdict {
  readonly outcome: string;
  readonly violation?: string;
}

async function tryAttack(scene: AttackScene, attack: Attack): Promise<Verdict> {
  const disk = createDiskImage(scene.disk, { kind: "kill" });
  for (const [path, bytes] of attack.changes) put(disk, path, bytes);
  const isOlderKeyring = lacksKeyring(scene, disk);
  const fileSystem = new ModelFileSystem(disk);
  const place = await ExploredPlace.open({ fileSystem, now: () => 0, seed: "victim" }, { workflow: PAYMENTS });
  try {
    const view = await place.verbs.resume({ task: TASK, workflow: place.workflow, answers: { g2: "y" } });
    const status = "status" in view ? view.status : "planned";
    const output = "output" in view ? JSON.stringify(view.output) : "";
    if (isOlderKeyring) return { outcome: status, violation: "it went on with an older keyring" };
    return judge(place, status, output);
  } catch (error) {
    const code = errorCodeOf(error);
    const acts = actsOf(place);
    if (code === undefined || code === "INTERNAL") return { outcome: "untyped", violation: messageOf(error) };
    return acts === "" ? { outcome: code } : { outcome: code, violation: `${code} after ${acts} acted` };
  } finally {
    await place.verbs.close();
  }
}

/** The newest keyring that was in force is not there any more. Damaged, the one before stands for it (V11). */
function lacksKeyring({ newer }: AttackScene, disk: DiskModel): boolean {
  const keyrings = [...newer.keys()].filter((path) => path.startsWith("keyring-"));
  return disk.findFolder(FOLDER).entries.get(keyrings.sort().at(-1) ?? "") === undefined;
}

const actsOf = (place: ExploredPlace): string => place.acts.map(({ step }) => step).join();

function judge(place: ExploredPlace, status: string, output: string): Verdict {
  const acts = actsOf(place);
  if (acts !== "" && acts !== "p3") return { outcome: status, violation: `${acts} acted` };
  if (status !== "done") return { outcome: status };
  const expected = JSON.stringify({ p1: "p1", p3: "p3" });
  if (acts !== "p3") return { outcome: status, violation: "it is done without its last payment" };
  return output === expected ? { outcome: status } : { outcome: status, violation: `it gives ${output}` };
}

function put(disk: DiskModel, path: string, bytes: Buffer | undefined): void {
  const parts = path.split("/");
  const name = parts.pop() ?? "";
  const folder = disk.findFolder([FOLDER, ...parts].join("/"));
  if (bytes === undefined) folder.entries.delete(name);
  else folder.entries.set(name, createFile(disk, folder, { name, bytes }));
}

/** With the bytes as an attacker leaves them: durable, under the mode that the file had. */
function createFile(disk: DiskModel, folder: FolderNode, { name, bytes }: { name: string; bytes: Buffer }): FileNode {
  const file = disk.createFileNode([{ bytes, state: "synced" }]);
  const before = folder.entries.get(name);
  return before?.kind === "file" ? Object.assign(file, { mode: before.mode }) : file;
}
