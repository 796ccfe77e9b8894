// Two containers of one kernel share one folder of outputs, or one Postgres: owner and keeper are killed in the one while
// their children live on, or the whole container is, and the other goes on with the task.
//   node proof/two-namespaces.mjs [--kills N] [--seed N] [--store file|sqlite|postgres] [--beside TASKS]
// No effect begins twice unless a person was asked in between and said so; the one who answers here looks at the ledger, when
// nothing of the old attempt runs any more. Needs `unshare` and the right to use it.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createRandom } from "./kill-loop/random.mjs";
import { openServers } from "./stores/servers.mjs";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    store: { type: "string", default: "file" },
    beside: { type: "string", default: "1" },
  },
});
const MAIN = join(import.meta.dirname, "../dist/cli/main.js");
const NAMESPACES = ["-m", "-p", "-f", "--mount-proc", "--kill-child"];
const STEPS = 5;
const ROUNDS_MAX = 60;
/** Then it is let go: on a busy machine nothing comes about before the next strike. */
const STRUCK_ROUNDS_MAX = 40;
/** Partial: a person skipped a step whose effect had happened. */
const ENDS = new Set(["done", "partial"]);
const random = createRandom(Number(values.seed));

if (spawnSync("unshare", [...NAMESPACES, "true"]).status !== 0) {
  console.log("left out: no namespaces of processes can be made here");
  process.exit(0);
}

const act = (folder, name) => `echo begin ${name} >> ${folder}/ledger; sleep 0.4; echo end ${name} >> ${folder}/ledger`;

function createWorkflow(folder) {
  const steps = Array.from({ length: STEPS }, (_none, index) => ({
    name: `s${index}`,
    command: ["sh", "-c", act(folder, `s${index}`)],
    effects: "external",
    probe: ["sh", "-c", `grep -q 'end s${index}' ${folder}/ledger`],
    ...(index === 0 ? {} : { depends_on: [`s${index - 1}`] }),
  }));
  return JSON.stringify({ workflow: { name: "two" }, steps });
}

class Place {
  folder = mkdtempSync(join(tmpdir(), "splashdown-two-"));
  containers = [];
  reruns = new Map();

  constructor(store) {
    this.env = {
      PATH: process.env.PATH,
      HOME: this.folder,
      SPLASHDOWN_KEY: Buffer.alloc(32, 7).toString("base64"),
      SPLASHDOWN_STORE: store,
    };
    writeFileSync(join(this.folder, "w.json"), createWorkflow(this.folder));
  }

  get ledger() {
    const path = join(this.folder, "ledger");
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  }

  count(line) {
    return this.ledger.filter((entry) => entry === line).length;
  }

  /** A container whose first process stays when the command has ended. */
  start(args) {
    const words = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(" ");
    const script = `${words} > '${this.folder}/out' 2>&1; echo $? > '${this.folder}/code'; sleep 600`;
    rmSync(join(this.folder, "code"), { force: true });
    const child = spawn("unshare", [...NAMESPACES, "sh", "-c", script], {
      cwd: this.folder,
      env: this.env,
      stdio: "ignore",
    });
    this.containers.push(child);
    return child;
  }

  /** What the last command said. */
  get said() {
    const path = join(this.folder, "out");
    return existsSync(path) ? readFileSync(path, "utf8").slice(-600) : "";
  }

  get hasEnded() {
    return existsSync(join(this.folder, "code"));
  }

  show() {
    const shown = spawnSync(process.execPath, [MAIN, "show", "t", "--json"], { cwd: this.folder, env: this.env });
    return shown.status === 0 ? JSON.parse(shown.stdout.toString()) : undefined;
  }

  /** What a person does before they answer: nothing of the old attempts runs any more. */
  endContainers() {
    for (const child of this.containers.splice(0)) child.kill("SIGKILL");
  }

  remove() {
    this.endContainers();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Numbers here of what runs in the container, whose command line holds one of the words. */
function membersOf(container, words) {
  const inits = readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, "utf8").trim().split(" ");
  const namespace = readlinkSync(`/proc/${inits[0]}/ns/pid`);
  return readdirSync("/proc").filter((name) => {
    try {
      if (!/^\d+$/.test(name) || readlinkSync(`/proc/${name}/ns/pid`) !== namespace) return false;
      const command = readFileSync(`/proc/${name}/cmdline`, "latin1");
      return !command.startsWith("sh\0") && words.some((word) => command.includes(word));
    } catch {
      return false;
    }
  });
}

function strike(container) {
  try {
    const kind = random.below(3);
    if (kind === 0) container.kill("SIGKILL");
    const words = kind === 1 ? [MAIN, "splashdown-keeper"] : [MAIN];
    if (kind !== 0) for (const pid of membersOf(container, words)) process.kill(Number(pid), "SIGKILL");
    return true;
  } catch {
    return false;
  }
}

/** How the task is gone on with; undefined when it has ended. */
function chooseNext(place) {
  const view = place.show();
  // Nothing was recorded before the first process died.
  if (view?.started_at === undefined) return ["run", "w.json", "--task", "t"];
  if (ENDS.has(view.status)) return undefined;
  // One who waits for an answer may have an unclear owner too: the refusal names the way on, and a person types it.
  if (view.status === "unclear" || place.said.includes("OWNER_UNCLEAR")) {
    place.endContainers();
    return ["resume", "t", "--take-over"];
  }
  const open = view.questions.filter(({ status }) => status === "open");
  if (open.length === 0) return random.below(2) === 0 ? ["recover"] : ["resume", "t"];
  place.endContainers();
  const answers = open.flatMap(({ text }) => {
    const name = /s\d/.exec(text)?.[0];
    const isDone = place.count(`end ${name}`) > 0;
    if (!isDone) place.reruns.set(name, (place.reruns.get(name) ?? 0) + 1);
    return ["--unknown", `${name}=${isDone ? "skip" : "rerun"}`];
  });
  return ["resume", "t", ...answers];
}

async function driveTask(store, tally) {
  const place = new Place(store);
  try {
    let args = ["run", "w.json", "--task", "t"];
    for (let round = 0; args !== undefined && round < ROUNDS_MAX; round += 1) {
      await runRound(place, args, { isStruck: round < STRUCK_ROUNDS_MAX && random.below(4) > 0, tally });
      args = chooseNext(place);
    }
    if (args !== undefined)
      tally.violations.push(
        `no end after ${ROUNDS_MAX} rounds: ${place.show()?.status}; ${args.join(" ")}: ${place.said}`,
      );
    judgeEffects(place, tally);
  } finally {
    place.remove();
  }
}

async function runRound(place, args, { isStruck, tally }) {
  const container = place.start(args);
  const endAt = performance.now() + (isStruck ? 700 + random.below(2_500) : 60_000);
  while (!place.hasEnded && performance.now() < endAt) await sleep(20);
  if (!place.hasEnded && strike(container)) tally.kills += 1;
  await sleep(100 + random.below(300));
}

function judgeEffects(place, tally) {
  for (let index = 0; index < STEPS; index += 1) {
    const begun = place.count(`begin s${index}`);
    const allowed = 1 + (place.reruns.get(`s${index}`) ?? 0);
    if (begun > allowed)
      tally.violations.push(`s${index} began ${begun} times, asked ${allowed - 1} times (${place.folder})`);
  }
  tally.questions += [...place.reruns.values()].reduce((sum, count) => sum + count, 0);
  tally.tasks += 1;
}

const servers = await openServers(values.store);
/** A store of its own for each task. */
const addressOf = (number) => {
  if (values.store === "file") return "file:outputs";
  return values.store === "sqlite" ? "sqlite:outputs/tasks.db" : `${servers.store}?table_prefix=two${number}_`;
};
const tally = { kills: 0, tasks: 0, questions: 0, violations: [] };
let begun = 0;
async function driveTasks() {
  while (tally.kills < Number(values.kills) && tally.violations.length === 0)
    await driveTask(addressOf((begun += 1)), tally);
}
try {
  await Promise.all(Array.from({ length: Number(values.beside) }, driveTasks));
} finally {
  await servers.close();
}
console.log(JSON.stringify({ store: values.store, ...tally }));
process.exit(tally.violations.length === 0 ? 0 : 1);
