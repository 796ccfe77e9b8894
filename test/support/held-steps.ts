/**
 * Workflows whose steps write to a ledger and obey files beside them, so that a test can hold, fail and kill them.
 *
 * A step appends its name to `ledger`, waits while `hold-NAME` exists, fails while `fail-NAME` exists, then gives
 * `{step: NAME}` as its output.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { CommandPlace, PlaceOptions } from "./command-place.js";
import type { RunningCommand } from "./built-program.js";
import { until } from "./real-clock.js";

const STEP = `
here="$(dirname "$0")"; name="$1"
echo "$name" >> "$here/ledger"
while [ -e "$here/hold-$name" ]; do sleep 0.02; done
if [ -e "$here/fail-$name" ]; then echo "refused by $name" >&2; exit 3; fi
printf '{"output": {"step": "%s"}}' "$name"
`;

export interface HeldStepsOptions {
  readonly effects?: "none" | "idempotent" | "external";
  /** More of the \`workflow\` block, as YAML flow: `limits: {max_iterations: 3}`. */
  readonly more?: string;
  readonly file?: string;
}

/** A machine of steps, one after the other, in `NAME.yaml`; the answer is the file's name. */
export function writeHeldSteps(
  place: CommandPlace,
  names: readonly string[],
  { effects = "external", more = "", file = "steps.yaml" }: HeldStepsOptions = {},
): string {
  place.write("step.sh", STEP);
  const agents = names.map((name, index) => {
    const next = names[index + 1] ?? "$end";
    return `  - {name: ${name}, command: [sh, step.sh, ${name}], effects: ${effects}, routes: [{to: ${next}}]}`;
  });
  place.write(
    file,
    [
      `workflow: {name: steps, entry_point: ${names[0] ?? ""}, input: {n: {type: number, default: 0, required: false}}${more === "" ? "" : `, ${more}`}}`,
      "agents:",
      ...agents,
      `output: {last: "{{ ${names.at(-1) ?? ""}.output.step }}", n: "{{ workflow.input.n }}"}`,
      "",
    ].join("\n"),
  );
  return file;
}

export function hold(place: CommandPlace, step: string): void {
  place.write(`hold-${step}`, "");
}

export function release(place: CommandPlace, step: string): void {
  rmSync(join(place.folder, `hold-${step}`), { force: true });
}

export function spoil(place: CommandPlace, step: string): void {
  place.write(`fail-${step}`, "");
}

export function repair(place: CommandPlace, step: string): void {
  rmSync(join(place.folder, `fail-${step}`), { force: true });
}

/** Starts a run whose step is held, and returns when that step has begun. */
export async function startHeld(
  place: CommandPlace,
  step: string,
  { args, options }: { readonly args: readonly string[]; readonly options?: PlaceOptions },
): Promise<RunningCommand> {
  hold(place, step);
  const before = place.ledger().filter((line) => line === step).length;
  const running = place.start(args, options);
  let isOver = false;
  void running.done.then(() => {
    isOver = true;
  });
  await until(`${step} runs: ${args.join(" ")}`, () => {
    if (isOver) throw new Error(`ended before ${step}: ${running.stderr()}`);
    return place.ledger().filter((line) => line === step).length > before;
  });
  return running;
}

/** A task whose owner was killed while the step ran; the step may act afterwards. */
export async function crashAt(place: CommandPlace, step: string, args: readonly string[]): Promise<void> {
  const running = await startHeld(place, step, { args });
  running.child.kill("SIGKILL");
  await running.done;
  release(place, step);
}
