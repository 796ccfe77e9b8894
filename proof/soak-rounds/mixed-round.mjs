// One mixed round: a task whose processes are killed, frozen or met by a failing disk, while others list, prune, rotate, seal
// again, export, fork, recover, pause, stop, guide, ask and answer; then the ten points (ten-points.mjs). Prints { tried, violations }; tried counts strikes
// and commands.
//   node proof/soak-rounds/mixed-round.mjs SEED [--short] [--store file|sqlite|pglite|postgres|postgres://…] [--cache redis://…]
// --short: one strike, and nobody is frozen. Without --store files or SQLite, by lot.
import { spawn, spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createRandom } from "../kill-loop/random.mjs";
import { PROGRAM, Stand, viewOf } from "../proofs/stand.mjs";
import { openServers } from "../stores/servers.mjs";
import { answerTo, ITEMS, SECRET, TASK, writeMixedTask } from "./mixed-task.mjs";
import { findUntoldDamage } from "./spoiled-copy.mjs";
import { judgeRound } from "./ten-points.mjs";

const OWNERS_MAX = 40;
const FROZEN_MS = 1_000;
const RUN = ["run", "workflow.json", "--task", TASK, "--input", `items=${JSON.stringify(ITEMS)}`, "--json"];
const RESUME = ["resume", TASK, "--json"];
const OPEN_TO_ALL = ["sh", "-c", 'umask 000; exec "$0" "$@"'];
const COMMANDS_BESIDE = [
  ["list"],
  ["show", TASK],
  ["doctor"],
  ["checkpoints", "list", TASK],
  ["checkpoints", "prune", TASK, "--keep", "2", "--yes"],
  ["checkpoint", TASK, "--note", "by the way"],
  ["validate", "workflow.json"],
  ["keys", "rotate", TASK],
  ["keys", "rotate", TASK, "--task-key"],
  ["keys", "rotate", TASK, "--task-key", "--reencrypt"],
  ["fork", TASK, "--from", "latest"],
  ["recover"],
  ["stop", TASK],
  ["metrics", TASK],
  ["doctor", "--tasks"],
  ["checkpoints", "export", TASK, "--to"],
  ["pause", TASK],
  ["guide", TASK, "in euros"],
  ["answer", TASK, "yes"],
  ["audit", "verify", TASK],
];

class MixedRound {
  #random;
  /** What befalls the first owners; the others live. */
  #strikes;
  /** So many beside each of those. */
  #commandCount;
  #stand;
  #store;
  #cache;
  #servers;
  #prefix;
  #usualMs = 0;
  #said = "";
  #refusals = [];
  #count = 0;

  constructor(seed, { kinds, strikeCount, commandCount, store, cache }) {
    this.#random = createRandom(seed);
    this.#commandCount = commandCount;
    this.#strikes = Array.from({ length: strikeCount }, () => this.#random.pick(kinds));
    const drawn = this.#random.pick(["file", "file", "sqlite"]);
    this.#store = store ?? drawn;
    this.#cache = cache;
    this.#prefix = `r${seed}_`;
  }

  async run() {
    const calm = await this.#liveCalmly();
    this.#servers = await openServers(this.#store);
    const cache = this.#cache ?? this.#servers.cache;
    this.#stand = openStand(
      addressIn(this.#servers, this.#prefix),
      cache === undefined ? {} : { SPLASHDOWN_CACHE: cache },
    );
    try {
      await this.#liveDisturbed();
      const violations = judgeRound(await this.#find(calm));
      if (violations.length === 0) this.#stand.remove();
      else console.error(`kept for a look: ${this.#stand.folder}`);
      return { tried: this.#count, violations };
    } catch (error) {
      return { tried: this.#count, violations: [`${error.message}; kept for a look: ${this.#stand.folder}`] };
    } finally {
      await this.#servers.close();
    }
  }

  /** Undisturbed, on files, under the usual umask. */
  async #liveCalmly() {
    const stand = openStand(({ path }) => `file:${path("outputs")}`);
    stand.run(RUN);
    stand.run(["answer", TASK, "yes"]);
    const startMs = performance.now();
    const { output } = viewOf(stand.run(RESUME)) ?? {};
    this.#usualMs = performance.now() - startMs;
    stand.remove();
    return output;
  }

  async #liveDisturbed() {
    for (let owner = 0; owner < OWNERS_MAX; owner += 1) {
      const view = viewOf(await this.#command(["show", TASK, "--json"]));
      if (view?.status === "done") return;
      await this.#answerAll(view);
      await this.#own(this.#chooseVerb(view), this.#strikes[owner]);
    }
    throw new Error(`not done after ${OWNERS_MAX} owners`);
  }

  /** What was never begun can only be run; what was asked, or paused, is resumed. */
  #chooseVerb(view) {
    if (view?.status === undefined) return RUN;
    return view.status === "crashed" ? this.#random.pick([RUN, RESUME, ["recover", "--json"]]) : RESUME;
  }

  async #answerAll(view) {
    for (const question of (view?.questions ?? []).filter(({ status }) => status === "open"))
      await this.#command(["answer", TASK, question.id, ...answerTo(question, this.#stand.ledger()), "--json"]);
  }

  async #own(args, strike) {
    const nth = 1 + this.#random.below(8);
    const inject = ["-e", "trace=fdatasync,fsync", "-e", `inject=fdatasync,fsync:error=EIO:when=${nth}`];
    const through = strike === "disk" ? ["strace", "-f", "-qq", "-o", this.#stand.path("trace"), ...inject] : [];
    const owner = this.#start(args, through);
    if (strike === undefined) return owner.ended;
    this.#count += 1;
    const beside = this.#runBeside();
    if (strike !== "disk") await sleep(40 + this.#random.below(this.#usualMs));
    if (strike === "kill") owner.signal("SIGKILL");
    if (strike === "freeze") {
      owner.signal("SIGSTOP");
      await sleep(FROZEN_MS);
      owner.signal("SIGCONT");
    }
    await Promise.all([owner.ended, beside]);
    return undefined;
  }

  async #runBeside() {
    for (let at = 0; at < this.#commandCount; at += 1) {
      const args = this.#random.pick(COMMANDS_BESIDE);
      const file = args.at(-1) === "--to" ? [`bundle-${this.#count}.zip`] : [];
      await this.#command([...args, ...file, "--json"]);
    }
  }

  #command(args) {
    this.#count += 1;
    return this.#start(args).ended;
  }

  #start(args, through = []) {
    const [file, ...rest] = [...OPEN_TO_ALL, ...through, process.execPath, PROGRAM, ...args];
    const child = spawn(file, rest, { cwd: this.#stand.folder, env: this.#stand.variables });
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
    const ended = new Promise((resolve) => {
      child.on("close", (code) => {
        this.#said += said.stdout + said.stderr;
        if (code !== 0) this.#refusals.push({ args, code, ...said });
        resolve({ code, ...said });
      });
    });
    return { ended, signal: (name) => child.kill(name) };
  }

  async #find(calm) {
    const read = async (...args) => viewOf(await this.#command([...args, "--json"]));
    const again = await this.#command(RUN);
    const view = await read("show", TASK);
    return {
      stand: this.#stand,
      folders: this.#servers.folders,
      calm,
      last: view.output,
      view,
      listed: await read("list"),
      events: await read("events", TASK),
      exitStatus: again.code,
      said: this.#said,
      refusals: this.#refusals,
      unopened: await this.#findUnopened(),
      untold: this.#store === "file" ? findUntoldDamage(this.#stand) : [],
    };
  }

  async #findUnopened() {
    const unopened = [];
    const listed = viewOf(await this.#command(["checkpoints", "list", TASK, "--json"]));
    for (const { seq } of listed.filter(({ reachable }) => reachable !== false)) {
      const { code, stdout, stderr } = await this.#command(["checkpoints", "show", `${TASK}:${seq}`, "--json"]);
      if (code !== 0) unopened.push(`checkpoint ${seq}: ${code} ${stdout}${stderr}`.slice(0, 300));
    }
    return unopened;
  }
}

/** The address of a store in a stand; in a server each round has tables of its own. */
function addressIn({ store }, prefix) {
  if (store.includes("://")) return () => `${store}?table_prefix=${prefix}`;
  const inside = { file: "outputs", sqlite: "outputs/tasks.db", pglite: "outputs/pglite" };
  return ({ path }) => `${store}:${path(inside[store])}`;
}

function openStand(addressOf, more = {}) {
  const stand = new Stand();
  const address = addressOf({ path: (name) => stand.path(name) });
  const key = Buffer.alloc(32, 7).toString("base64");
  delete stand.variables.UV_THREADPOOL_SIZE;
  Object.assign(stand.variables, { SPLASHDOWN_STORE: address, SPLASHDOWN_KEY: key, TOKEN: SECRET, ...more });
  writeMixedTask(stand);
  return stand;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: "boolean", default: false }, store: { type: "string" }, cache: { type: "string" } },
});
const [seed = "1"] = positionals;
const hasStrace = spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "-e", "trace=none", "true"]).status === 0;
const kinds = ["kill", "kill", "freeze", ...(hasStrace ? ["disk"] : [])];
const whole = { kinds, strikeCount: 3, commandCount: 3 };
const short = { kinds: ["kill"], strikeCount: 1, commandCount: 2 };
const form = { ...(values.short ? short : whole), store: values.store, cache: values.cache };
console.log(JSON.stringify(await new MixedRound(Number(seed), form).run()));
