// The ten points that catch most of what users suffer from (FAULTS.md, section 5), each as a check of a finished round. They
// read what processes printed, what lies on the disk and what the effects wrote; nothing of the program is trusted.
//
// found: stand; folders of servers; calm and last, the outputs of the undisturbed and of this run; view, listed, events as the commands print them; said, everything any process printed; refusals, what ended with another status than 0; exitStatus of
// the last run; unopened, what opening each checkpoint said against it; untold, what damage to a copy was not told.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EFFECTS, SECRET, TASK } from "./mixed-task.mjs";

const countOf = (list, wanted) => list.filter((each) => each === wanted).length;
/** What stands for a secret differs from task to task. */
const textOf = (output) => JSON.stringify(output)?.replaceAll(/\[redacted:\w+:\w+\]/g, "[redacted]");

/** Shape: by number; texts of what is wrong, none when nothing is. */
export const TEN_POINTS = {
  "1: effect lines per step and item: exactly one": ({ stand }) => {
    const lines = stand.ledger();
    return EFFECTS.filter((name) => countOf(lines, name) !== 1).map((name) => `${name}: ${countOf(lines, name)} lines`);
  },
  "2: the output is that of an undisturbed run, group order included": ({ calm, last }) =>
    textOf(calm) === textOf(last) ? [] : [`${textOf(last)} instead of ${textOf(calm)}`],
  "3: nothing is running without an owner, and no two owners had one number": ({ listed, events }) => {
    const epochs = events.filter(({ type }) => type === "task_resumed").map(({ event }) => event.epoch);
    const isRising = epochs.every((epoch, at) => at === 0 || epoch > epochs[at - 1]);
    const running = listed.filter(({ status }) => status === "running").map(({ task }) => `${task} is said to run`);
    return [...running, ...(isRising ? [] : [`owners in the history: ${epochs.join()}`])];
  },
  "4: iterations, attempts, spend and answers add up over all processes": (found) => [...sumUp(found)],
  "5: every checkpoint listed can be opened": ({ unopened }) => unopened,
  "6: no secret in any byte written or shown": ({ stand, folders, said }) => [
    ...(said.includes(SECRET) ? ["it was printed"] : []),
    ...[...["outputs", "state", "config"].map((folder) => stand.path(folder)), ...folders]
      .flatMap((folder) => listFiles(folder))
      .filter(holdsSecret),
  ],
  "7: damage is named, and nothing is run on it": ({ untold }) => untold,
  "8: list, show and the exit status agree": ({ listed, view, exitStatus }) => {
    const entry = listed.find(({ task }) => task === TASK);
    const isSame = entry?.status === view.status && (view.status === "done") === (exitStatus === 0);
    return isSame ? [] : [`list: ${entry?.status}, show: ${view.status}, exit status ${exitStatus}`];
  },
  // That another store gives the same is point 2: the undisturbed run was on files, under the usual umask.
  "9: under umask 000 nobody else can read or write": ({ stand }) =>
    listFiles(stand.path("outputs"))
      .filter((path) => path.includes("/checkpoints/") || /\.db/.test(path))
      .filter((path) => (lstatSync(path).mode & 0o077) !== 0),
  "10: every refusal names what, why and the next command": ({ refusals }) => refusals.flatMap(judgeRefusal),
};

function* sumUp({ view, events }) {
  for (const { step, attempt } of view.steps) {
    const intended = events.filter(({ type, event }) => type === "step_intended" && event.step === step).length;
    if (intended !== attempt) yield `${step}: attempt ${attempt} of ${intended}`;
  }
  const costs = events.map(({ event }) => event.usage?.costMicroUsd ?? 0);
  const spent = costs.reduce((sum, cost) => sum + cost, 0) / 1e6;
  if (Math.abs(spent - view.metrics.cost_usd) > 1e-9) yield `${spent} USD recorded, ${view.metrics.cost_usd} told`;
  const answers = events.filter(({ type }) => type === "question_answered").map(({ event }) => event.question);
  for (const { id, status } of view.questions)
    if (status !== "withdrawn" && countOf(answers, id) !== 1) yield `${id} was answered ${countOf(answers, id)} times`;
}

/** What waits is no refusal: 20 to 22 say what for. Nor is what was killed. */
const isRefusal = ({ code }) => code !== null && (code < 20 || code > 22) && code <= 128;

function judgeRefusal(ended) {
  const { args, code, stdout, stderr } = ended;
  if (!isRefusal(ended)) return [];
  const line = `${stdout}\n${stderr}`.split("\n").find((each) => each.startsWith('{"error":'));
  const told = line === undefined ? viewOf(stdout) : viewOf(line)?.error;
  return isWhole(told ?? {}) ? [] : [`${args.join(" ")} ended with ${code}: ${stdout}${stderr}`.slice(0, 500)];
}

/** An error, the view of a task that ended otherwise than well, or of several things of which some did. */
function isWhole({ code, message, reason, hint, next, tasks, checks }) {
  if (tasks !== undefined) return tasks.every(isWholeTask);
  if (checks !== undefined)
    return checks.every(({ ok, text, hint: mend }) => ok || (text !== undefined && mend !== undefined));
  return code !== "INTERNAL" && (message ?? reason) !== undefined && (hint ?? next) !== undefined;
}

/** What `recover` says of one: why it failed, or how it ended. */
function isWholeTask({ action, code, why, hint, result }) {
  if (action === "failed") return isWhole({ code, message: why, hint });
  const isWell = result === undefined || result.exit_status === 0 || !isRefusal({ code: result.exit_status });
  return isWell || isWhole(result);
}

function viewOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function listFiles(folder) {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  } catch {
    return [];
  }
}

const holdsSecret = (path) => readFileSync(path).includes(SECRET);

/** All points at once, each by its own check. */
export function judgeRound(found) {
  return Object.entries(TEN_POINTS).flatMap(([point, check]) => check(found).map((text) => `point ${point}: ${text}`));
}
