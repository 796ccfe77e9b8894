// The built program against a real Secret Service (gnome-keyring on a session bus of its own, with a home of its own): the
// key of a task in the system's keyring, through a kill, a lost entry, another key, a locked keyring, and no bus at all.
// Not in the default run: it needs dbus-run-session, dbus-send and gnome-keyring-daemon, and installs @napi-rs/keyring.
//   node proof/system-keyring.mjs [--keep]
// Exit status 0: everything as it must be; 1: a fault; 3: it cannot be had here, with the reason.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { keep: { type: "boolean", default: false }, inside: { type: "string" } } });
const PROGRAM = join(import.meta.dirname, "..", "dist", "cli", "main.js");
const PACKAGE = "@napi-rs/keyring@2.1.2";
const STATUS_UNAVAILABLE = 3;
const STATUS_KEY = 12;
const LOOK_MS = 20;
const LOOK_MS_MAX = 60_000;
const faults = [];

function say(what, isGood, more = "") {
  if (!isGood) faults.push(what);
  console.log(`${isGood ? "ok   " : "FAULT"} ${what}${isGood || more === "" ? "" : `: ${more}`}`);
}

function giveUp(reason) {
  console.log(`a system keyring cannot be had here: ${reason}`);
  process.exit(STATUS_UNAVAILABLE);
}

/** Starts itself again on a bus of its own, where the keyring is unlocked. */
function startInside() {
  for (const tool of ["dbus-run-session", "dbus-send", "gnome-keyring-daemon"])
    if (spawnSync("sh", ["-c", `command -v ${tool}`]).status !== 0)
      giveUp(`${tool} is missing (Debian: apt-get install dbus gnome-keyring)`);
  const folder = mkdtempSync(join(tmpdir(), "splashdown-system-keyring-"));
  for (const inner of ["home/.local/share", "config", "state", "work"])
    mkdirSync(join(folder, inner), { recursive: true });
  writeFileSync(join(folder, "work/package.json"), "{}");
  const installed = spawnSync("npm", ["install", "--no-audit", "--no-fund", PACKAGE], { cwd: join(folder, "work") });
  if (installed.status !== 0) giveUp(`npm install ${PACKAGE}: ${String(installed.stderr).trim().split("\n")[0]}`);
  const unlock = "printf pw | gnome-keyring-daemon --unlock --components=secrets > /dev/null";
  const { status } = spawnSync(
    "dbus-run-session",
    ["--", "sh", "-c", `${unlock}; exec "$@"`, "sh", process.execPath, import.meta.filename, "--inside", folder],
    { stdio: ["ignore", "inherit", "ignore"], env: { PATH: process.env.PATH, HOME: join(folder, "home") } },
  );
  if (status !== 0 || values.keep) console.log(`kept for a look: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  process.exit(status ?? 1);
}

if (values.inside === undefined) startInside();
const folder = values.inside;
const work = join(folder, "work");
const { Entry } = createRequire(join(work, "package.json"))("@napi-rs/keyring");
const entry = new Entry("splashdown", "ada");
const key = randomBytes(32).toString("base64");

function start(args, environment = {}) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: work,
    env: {
      ...process.env,
      SPLASHDOWN_CONFIG_DIR: join(folder, "config"),
      SPLASHDOWN_STATE_DIR: join(folder, "state"),
      SPLASHDOWN_TRUST: "1",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
  const ended = new Promise((resolve) => child.on("close", (status) => resolve({ ...said, status })));
  return { child, ended };
}

const run = (args, environment) => start(args, environment).ended;

/** A verb that must end so, and say so. */
async function expectEnd(what, args, { status = 0, says = "", environment } = {}) {
  const end = await run(args, environment);
  const text = end.stdout + end.stderr;
  say(what, end.status === status && text.includes(says), `${end.status}, ${text.trim()}`);
}

async function untilThere(file) {
  const endMs = performance.now() + LOOK_MS_MAX;
  while (!existsSync(file)) {
    if (performance.now() > endMs) throw new Error(`not within ${LOOK_MS_MAX / 1_000} s: ${file}`);
    await sleep(LOOK_MS);
  }
}

function filesWith(text) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && !each.parentPath.includes("node_modules"))
    .map((each) => join(each.parentPath, each.name))
    .filter((path) => !path.includes("/keyrings/") && readFileSync(path).includes(text));
}

writeFileSync(join(work, "splashdown.config.yaml"), "keys:\n  - {type: system, account: ada}\n");
writeFileSync(
  join(work, "flow.yaml"),
  `workflow: {name: kept}
steps:
  - {name: first, command: [sh, -c, 'echo "{\\"output\\": {\\"n\\": 1}}"'], effects: none}
  - {name: held, command: [sh, -c, 'touch begun; while [ ! -e go ]; do sleep 0.05; done; echo "{}"'], effects: none, depends_on: [first]}
`,
);

async function begin() {
  await expectEnd("without an entry no task is made, and the entry is named", ["run", "flow.yaml", "--task", "t"], {
    status: STATUS_KEY,
    says: "system keyring entry splashdown/ada: the system's keyring has no such entry",
  });
  say("nothing was written", !existsSync(join(work, "outputs")));
  entry.setPassword(key);
  await expectEnd("keys show finds it", ["keys", "show"], { says: "system keyring entry splashdown/ada: at hand" });
}

async function kill() {
  const running = start(["run", "flow.yaml", "--task", "t"]);
  await untilThere(join(work, "begun"));
  running.child.kill("SIGKILL");
  await running.ended;
  writeFileSync(join(work, "go"), "");
  await expectEnd("a task that was killed is recovered", ["recover"], { says: "done" });
  await expectEnd("its key is told by name", ["keys", "show", "t"], { says: "system splashdown/ada" });
  await expectEnd("its keyring opens", ["keys", "verify", "t"], { says: "ok   t: opens" });
  const found = filesWith(key);
  say("the key stands in no file of ours", found.length === 0, found.join(", "));
}

async function lose() {
  entry.deletePassword();
  await expectEnd("a lost entry is a missing key", ["show", "t"], { status: STATUS_KEY, says: "no such entry" });
  entry.setPassword(randomBytes(32).toString("base64"));
  await expectEnd("another key is a wrong one", ["show", "t"], { status: STATUS_KEY, says: "needs system" });
  entry.setPassword("no key at all");
  await expectEnd("what is no key is named", ["show", "t"], { status: STATUS_KEY, says: "does not hold a key" });
  entry.setPassword(key);
  await expectEnd("the right one opens it again", ["show", "t"], { says: "done" });
}

async function change() {
  const environment = { SPLASHDOWN_KEY_FILE: join(folder, "other.key") };
  writeFileSync(join(work, "splashdown.config.yaml"), "{}\n");
  await expectEnd("another task, under a key file", ["keys", "init", "--key-file", join(folder, "other.key")]);
  await expectEnd("is run", ["run", "flow.yaml", "--task", "u"], { environment });
  const add = ["keys", "add", "u", "--system", "splashdown/ada"];
  await expectEnd("keys add --system lets the entry open it", add, { environment, says: "+ system" });
  writeFileSync(join(work, "splashdown.config.yaml"), "keys:\n  - {type: system, account: ada}\n");
  await expectEnd("which then opens it alone", ["show", "u"], { says: "done" });
  await expectEnd("the key file is taken away", ["keys", "remove", "keyfile", "u"], { says: "- keyfile" });
  await expectEnd("rotated and sealed again", ["keys", "rotate", "u", "--task-key", "--reencrypt"], {
    says: "sealed again",
  });
  await expectEnd("it opens still", ["debug", "replay", "--checkpoint", "u:latest"]);
}

async function lock() {
  const place = "/org/freedesktop/secrets";
  const target = ["--session", "--print-reply", "--dest=org.freedesktop.secrets", place];
  const collection = `array:objpath:${place}/collection/login`;
  const locked = spawnSync("dbus-send", [...target, "org.freedesktop.Secret.Service.Lock", collection]);
  say("the keyring is locked", locked.status === 0, String(locked.stderr));
  await expectEnd("a keyring that stays locked is told as such", ["show", "t"], {
    status: STATUS_KEY,
    says: "the system's keyring refuses the entry splashdown/ada",
  });
  await expectEnd("without a session bus the reason is told", ["show", "t"], {
    status: STATUS_KEY,
    says: "the system's keyring refuses the entry splashdown/ada",
    environment: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(folder, "no-bus")}` },
  });
}

for (const scenario of [begin, kill, lose, change, lock]) await scenario();
console.log(`${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
