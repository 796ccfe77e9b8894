/**
 * Tries attacks on a task, one after another: each is refused by name, or is asked about, or changes nothing.
 *
 * Owns: the judgement. The person goes on as always (`resume` with the answer of the second gate), and then, as people do,
 * types `run` of the same task and `recover`; the machine remembers what it has acknowledged. A payment that was made before
 * is never made again, the last one at most once, and what the task gives in the end is what it would have given.
 */
import { errorCodeOf, messageOf } from "../../../src/base/errors.js";
import type { ExploredPlace } from "../verbs/explored-place.js";
import { TASK } from "./attack-scene.js";
import type { AttackedMachine, AttackTarget, TargetAttack } from "./attack-target.js";
import { createFolderTarget } from "./folder-target.js";
import { createRowTarget } from "./row-target.js";

/** Where the attacked task is kept. */
export type Attacked = "folder" | "sqlite" | "pglite";

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
  /** A folder unless told otherwise. */
  readonly on?: Attacked;
  /** Only those whose name fits. */
  readonly only?: RegExp;
  readonly stopsAtViolation?: boolean;
}

export async function exploreAttacks(settings: AttackSettings): Promise<AttackReport> {
  const { on = "folder" } = settings;
  const target = await (on === "folder" ? createFolderTarget() : createRowTarget(on));
  try {
    return await tryAll(target, settings);
  } finally {
    await target.close();
  }
}

async function tryAll(target: AttackTarget, settings: AttackSettings): Promise<AttackReport> {
  const outcomes = new Map<string, number>();
  const violations: string[] = [];
  let tried = 0;
  for (const attack of chosen(target, settings)) {
    const machine = await attack.make();
    if (machine === undefined) continue;
    tried += 1;
    const { outcome, violation } = await tryAttack(machine, attack);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (violation === undefined) continue;
    violations.push(`${attack.name}: ${violation}`);
    if (settings.stopsAtViolation === true) break;
  }
  return { tried, outcomes, violations };
}

function* chosen(target: AttackTarget, { every, from = 0, only = /./ }: AttackSettings): Generator<TargetAttack> {
  let at = -1;
  for (const attack of target.attacks()) {
    if (!only.test(attack.name)) continue;
    at += 1;
    if (at % every === from) yield attack;
  }
}

interface Verdict {
  readonly outcome: string;
  readonly violation?: string;
}

async function tryAttack(machine: AttackedMachine, attack: TargetAttack): Promise<Verdict> {
  const first = await goOn(machine);
  if (first.violation !== undefined) return first;
  const again = await typeAgain(machine, attack);
  const acts = [...first.acts, ...again.acts].join();
  const violation = isRightOnce(acts) ? again.violation : `${acts} acted in the end`;
  return violation === undefined ? first : { ...first, violation };
}

/** As who works with the task does it, and what its own program would do. */
async function goOn(machine: AttackedMachine): Promise<Verdict & { readonly acts: readonly string[] }> {
  const place = await machine.open();
  const told = (verdict: Verdict) => ({ ...verdict, acts: actsOf(place) });
  try {
    const view = await place.verbs.resume({ task: TASK, workflow: place.workflow, answers: { g2: "y" } });
    const status = "status" in view ? view.status : "planned";
    const output = "output" in view ? JSON.stringify(view.output) : "";
    if (machine.lacksKeyring) return told({ outcome: status, violation: "it went on with an older keyring" });
    return told(judge(actsOf(place).join(), status, output));
  } catch (error) {
    return told(judgeRefusal(actsOf(place).join(), error));
  } finally {
    await place.verbs.close();
  }
}

/** Whatever is said, the next commands are these. */
async function typeAgain(
  machine: AttackedMachine,
  attack: TargetAttack,
): Promise<{ readonly acts: readonly string[]; readonly violation?: string }> {
  const place = await machine.open();
  const untyped: string[] = [];
  const type = async (verb: () => Promise<unknown>): Promise<void> => {
    try {
      await verb();
    } catch (error) {
      if (isUntyped(error)) untyped.push(messageOf(error));
    }
  };
  try {
    if (attack.takesTaskAway !== true) await type(() => place.run(TASK));
    await type(() => place.verbs.recover());
    await type(() => place.verbs.list());
    const [violation] = untyped;
    return { acts: actsOf(place), ...(violation !== undefined && { violation }) };
  } finally {
    await place.verbs.close();
  }
}

const actsOf = (place: ExploredPlace): string[] => place.acts.map(({ step }) => step);

const isRightOnce = (acts: string): boolean => acts === "" || acts === "p3";

function isUntyped(error: unknown): boolean {
  const code = errorCodeOf(error);
  return code === undefined || code === "INTERNAL";
}

function judgeRefusal(acts: string, error: unknown): Verdict {
  if (isUntyped(error)) return { outcome: "untyped", violation: messageOf(error) };
  const code = errorCodeOf(error) ?? "";
  return acts === "" ? { outcome: code } : { outcome: code, violation: `${code} after ${acts} acted` };
}

function judge(acts: string, status: string, output: string): Verdict {
  if (!isRightOnce(acts)) return { outcome: status, violation: `${acts} acted` };
  if (status !== "done") return { outcome: status };
  const expected = JSON.stringify({ p1: "p1", p3: "p3" });
  if (acts !== "p3") return { outcome: status, violation: "it is done without its last payment" };
  return output === expected ? { outcome: status } : { outcome: status, violation: `it gives ${output}` };
}
