/** What a step can reach of the one that runs it: walls where they are cheap, and what they do not hold. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROGRAM } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { isRunning } from "../../support/process-probe.js";
import { until } from "../../support/real-clock.js";

const NODE = process.execPath;
const KEY = Buffer.alloc(32, 7).toString("base64");

const STEP_FILE =
  'workflow: {name: w}\nsteps:\n  - {name: a, type: script, command: sh, args: [step.sh], effects: none}\noutput: {said: "{{ a.output.stdout }}{{ a.output.stderr }}"}\n';

/** Runs one shell line as a step and gives what it printed. */
async function runStep(place: CommandPlace, line: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  place.write("step.sh", line);
  place.write("w.yaml", STEP_FILE);
  const { stdout, stderr } = await place.run(["--json", "run", "w.yaml", "--new"], { env: { ...place.env, ...env } });
  const view = JSON.parse(stdout) as { output?: { said?: string } };
  if (view.output?.said === undefined) throw new Error(`${stdout}\n${stderr}`);
  return view.output.said;
}

/** A step that knows where everything is, as it does with the usual folders and key file. */
const knows = `SPLASHDOWN_STATE_DIR="$HOME/state" SPLASHDOWN_CONFIG_DIR="$HOME/config" SPLASHDOWN_KEY=${KEY}`;
const verb = (...words: string[]): string => `env ${knows} "${NODE}" "${PROGRAM}" ${words.join(" ")}`;
const ENVIRONMENT_OF_OWNER = "tr '\\0' '\\n' < /proc/$PPID/environ";

function withoutKey({ env }: CommandPlace): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name !== "SPLASHDOWN_KEY"));
}

/** A task that waits at a gate. */
async function openGate(place: CommandPlace): Promise<void> {
  place.write(
    "gated.yaml",
    `workflow: {name: gated}
steps:
  - {name: ask, type: human_gate, prompt: "Pay?", options: [{value: yes, label: Yes}]}
  - {name: pay, command: [sh, -c, "echo paid >> ledger"], effects: none, depends_on: [ask]}
`,
  );
  await place.run(["run", "gated.yaml", "--task", "gated"]);
}

describe("the keys of the one that runs a step", () => {
  it("[security H2] are not in the environment that the system shows of it", async () => {
    const place = openPlace();
    const said = await runStep(place, ENVIRONMENT_OF_OWNER, { SPLASHDOWN_PASSPHRASE: "correct horse battery staple" });
    expect(said).toContain("HOME=");
    expect(said).not.toMatch(/SPLASHDOWN_(?:KEY|PASSPHRASE)=[^\n]/);
  });

  it("[security H2 kin] are not there either where settings name another variable for one", async () => {
    const place = openPlace();
    place.write("home/settings.yaml", "keys:\n  - {type: env, variable: TEAM_KEY}\n");
    place.write("step.sh", ENVIRONMENT_OF_OWNER);
    place.write("w.yaml", STEP_FILE);
    const env = { ...withoutKey(place), TEAM_KEY: Buffer.alloc(32, 5).toString("base64") };
    const { stdout } = await place.run(["--config", "home/settings.yaml", "--json", "run", "w.yaml"], { env });
    const { said } = (JSON.parse(stdout) as { output: { said: string } }).output;
    expect(said).toContain("HOME=");
    expect(said).not.toMatch(/TEAM_KEY=[^\n]/);
  });

  it("[security H2 kin] are not on a descriptor that stays open", async () => {
    const place = openPlace();
    place.write("words", "correct horse battery staple\n");
    place.write(
      "w.yaml",
      'workflow: {name: w}\nsteps:\n  - {name: a, type: script, command: sh, args: ["-c", "readlink /proc/$PPID/fd/* ; true"], effects: none}\noutput: {said: "{{ a.output.stdout }}"}\n',
    );
    const env = { ...withoutKey(place), SPLASHDOWN_PASSPHRASE_FILE: "/dev/fd/3" };
    const words = `exec "${NODE}" "${PROGRAM}" --json run w.yaml 3< words`;
    const { stdout } = await place.run(["-c", words], { program: "sh", env });
    const { said } = (JSON.parse(stdout) as { output: { said: string } }).output;
    expect(said.split("\n").length).toBeGreaterThan(3);
    expect(said).not.toContain("/words");
  });

  it("[security L7] are not in the environment of functions, nor in that of modules", async () => {
    const place = openPlace();
    place.write(
      "f.mjs",
      "export const look = () => ({ key: process.env.SPLASHDOWN_KEY ?? null, passphrase: process.env.SPLASHDOWN_PASSPHRASE ?? null, home: process.env.HOME !== undefined });",
    );
    place.write("w.yaml", "workflow: {name: w}\nsteps:\n  - {name: a, function: ./f.mjs#look, effects: none}\n");
    const env = { ...place.env, SPLASHDOWN_PASSPHRASE: "correct horse battery staple" };
    const { stdout } = await place.run(["--json", "run", "w.yaml"], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      output: { a: { key: null, passphrase: null, home: true } },
    });
  });

  it("are still there for a task in the background", async () => {
    const place = openPlace();
    await openGate(place);
    expect((await place.run(["answer", "gated", "yes"])).code).toBe(0);
    const { stdout } = await place.run(["--json", "resume", "gated", "--detach"]);
    const { pid } = JSON.parse(stdout) as { pid: number };
    await until("it paid", () => place.ledger().length === 1);
    expect(pid).toBeGreaterThan(1);
    await until("it has ended", () => !isRunning(pid));
    expect(KEY).toBe(place.env["SPLASHDOWN_KEY"]);
  });
});

describe.runIf(process.getuid?.() === 0)("a step that runs as another user", () => {
  it("[security H2 kin] reads no key, no environment and no memory of its owner, and answers nothing", async () => {
    const place = openPlace();
    await openGate(place);
    place.write("home/config/keys/default.key", "key");
    chmodSync(join(place.folder, "home"), 0o700);
    chmodSync(place.folder, 0o755);
    const apart = "setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs";
    const inner = [
      "cat /proc/$OWNER/environ >/dev/null 2>&1; echo environ $?",
      "head -c 1 /proc/$OWNER/mem >/dev/null 2>&1; echo mem $?",
      'cat "$HOME/config/keys/default.key" >/dev/null 2>&1; echo key $?',
      "touch outputs/gated/checkpoints/control/x 2>/dev/null; echo control $?",
    ].join("\n");
    place.write("inner.sh", inner);
    const said = await runStep(place, `export OWNER=$PPID; ${apart} sh inner.sh`);
    expect(said.match(/\w+ \d+/g)).toEqual(["environ 1", "mem 1", "key 1", "control 1"]);
    expect(place.ledger()).toEqual([]);
  });
});

describe("a step that asks for what only people may do", () => {
  it("[kinds F16] is refused an answer by name, with the way to give one, and the payment behind the gate does not run", async () => {
    const place = openPlace();
    await openGate(place);
    const said = await runStep(
      place,
      `${verb("answer", "gated", "yes")}; echo "status $?"; ${verb("resume", "gated")}; echo "status $?"`,
    );
    expect(said.match(/status 20/g)).toHaveLength(2);
    expect(said).toContain("INSIDE_STEP");
    expect(said).toContain("in a terminal of your own: splashdown show gated");
    expect(place.ledger()).toEqual([]);
    expect((await place.run(["answer", "gated", "yes"])).code).toBe(0);
    const audit = (await place.run(["--json", "audit", "show", "gated"])).json<{
      entries: { event: string; verb: string }[];
    }>();
    expect(JSON.stringify(audit)).toContain('"refused"');
  });

  it("[kinds F16 kin] is refused also where it takes the variable out of the environment of its child", async () => {
    const place = openPlace();
    await openGate(place);
    const said = await runStep(place, `env -i HOME="$HOME" ${verb("answer", "gated", "yes")}; echo "status $?"`);
    expect(said).toContain("status 20");
  });

  it("[kinds F16 kin] is refused to stop, guide, fork, remove and prune tasks and to change keys", async () => {
    const place = openPlace();
    await openGate(place);
    const lines = [
      verb("stop", "gated"),
      verb("guide", "gated", "hurry"),
      verb("fork", "gated", "--from", "latest"),
      verb("store", "remove", "gated", "--yes"),
      verb("checkpoints", "prune", "--yes"),
      verb("keys", "shred", "gated", "--yes"),
      verb("keys", "accept", "gated", "--origin", "--yes"),
      verb("trust"),
      verb("recover"),
    ];
    const said = await runStep(place, lines.map((line) => `${line} >/dev/null 2>&1; echo "status $?"`).join("\n"));
    expect(said.match(/status \d+/g)).toEqual(lines.map(() => "status 20"));
  });

  it("[kinds F16 kin] may look, and may run a workflow of its own", async () => {
    const place = openPlace();
    place.write("own.yaml", "workflow: {name: own}\nsteps: [{name: a, type: set, value: 7}]\n");
    await openGate(place);
    const lines = [
      verb("list"),
      verb("show", "gated"),
      verb("run", "own.yaml"),
      verb("run", "gated.yaml", "--task", "gated", "--skip-gates"),
    ];
    const said = await runStep(place, lines.map((line) => `${line} >/dev/null 2>&1; echo "status $?"`).join("\n"));
    expect(said.match(/status \d+/g)).toEqual(["status 0", "status 0", "status 0", "status 20"]);
  });
});
