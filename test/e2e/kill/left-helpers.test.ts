/** What worked beside the steps when owner and keeper were killed at once: ended before anybody is asked, or anything acts. */
import { execFileSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RunningCommand } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { isRunning } from "../../support/process-probe.js";
import { until } from "../../support/real-clock.js";

const SERVER = join(import.meta.dirname, "../../support/programs/stubborn-server.mjs");

/** One step whose tool is at work until it may end. */
function openTalk(manner: string): CommandPlace {
  const place = openPlace();
  const variables = `{LEDGER: ${place.folder}/ledger, GO: ${place.folder}/go}`;
  place.write(
    "w.yaml",
    `workflow:
  name: w
  runtime:
    mcp_servers: {odd: {command: ${process.execPath}, args: [${SERVER}, ${manner}], env: ${variables}}}
steps: [{name: work, server: odd, tool: act}]
`,
  );
  return place;
}

/** The number that a line of the ledger ends with. */
const numbersIn = (place: CommandPlace): number[] =>
  place.ledger().flatMap((line) => (/\d+$/.exec(line) ?? []).map(Number));

/** Both at once, so that nothing of theirs can end what they leave. */
async function killWithKeeper(place: CommandPlace, owner: RunningCommand): Promise<void> {
  onTestFinished(() => {
    for (const pid of numbersIn(place).filter(isRunning)) process.kill(pid, "SIGKILL");
  });
  // A stopped owner starts no other keeper.
  owner.child.kill("SIGSTOP");
  const keepers = execFileSync("pgrep", ["-f", `splashdown-keeper ${owner.child.pid}( |$)`], { encoding: "utf8" });
  for (const pid of keepers.trim().split("\n")) process.kill(Number(pid), "SIGKILL");
  owner.child.kill("SIGKILL");
  await owner.done;
}

describe("a tool server whose owner and keeper are killed while it works", () => {
  it.each([
    {
      title: "[reliability 7] is ended by who recovers the task, and does not act after the question",
      manner: "plain",
    },
    { title: "[reliability 7 kin] is ended where it ignores TERM and the end of its input", manner: "deaf" },
    { title: "[reliability 7 kin] is ended with what escaped into a session of its own", manner: "escaped" },
  ])("$title", async ({ manner }) => {
    const place = openTalk(manner);
    const owner = place.start(["run", "w.yaml", "--task", "t"]);
    await until("the tool is at work", () => place.ledger().length === 1);
    await killWithKeeper(place, owner);
    const [worker = 0] = numbersIn(place);
    expect(isRunning(worker)).toBe(true);
    const recovered = await place.run(["recover", "--json"]);
    expect(recovered.stderr).toMatch(
      /ending process group \d+, which tool server odd of the earlier owner left running/,
    );
    expect(isRunning(worker)).toBe(false);
    const shown = (await place.run(["show", "t", "--json"])).json<{ status: string; questions: { text: string }[] }>();
    expect(shown.status).toBe("waiting");
    expect(shown.questions[0]?.text).toContain("was calling the tool odd__act");
    place.write("go", "");
    expect(place.ledger()).toHaveLength(1);
  });
});

describe("what runs before there is a record", () => {
  const DEAF = "trap '' TERM HUP INT; echo $$ >> ledger; while :; do sleep 0.05; done";

  it("[reliability 7 kin] a probe that was left running is ended before the next owner asks its own", async () => {
    const place = openPlace();
    place.write(
      "w.yaml",
      `workflow: {name: w}
steps:
  - name: pay
    command: [sh, -c, 'echo acted >> acts; until [ -e go ]; do sleep 0.05; done']
    effects: external
    probe: [sh, -c, "[ -e calm ] && exit 3; ${DEAF}"]
`,
    );
    const first = place.start(["run", "w.yaml", "--task", "t"]);
    await until("the step acts", () => place.ledger("acts").length === 1);
    await killWithKeeper(place, first);
    const second = place.start(["recover"]);
    await until("the probe looks", () => place.ledger().length === 1);
    await killWithKeeper(place, second);
    const [probe = 0] = numbersIn(place);
    expect(isRunning(probe)).toBe(true);
    place.write("calm", "");
    place.write("go", "");
    expect((await place.run(["recover"])).code).toBe(0);
    expect(isRunning(probe)).toBe(false);
    expect(place.ledger("acts")).toHaveLength(2);
    expect(readdirSync(join(place.folder, "home/state/processes"))).toEqual([]);
  });

  it("[reliability 7 kin] a key command that was left running is ended before the next one is asked", async () => {
    const place = openPlace({ SPLASHDOWN_KEY: "" });
    place.write("hang", "");
    place.write("key.sh", `[ -e hang ] && { ${DEAF}; }\ncat > /dev/null\nexit 9\n`);
    place.write("splashdown.config.yaml", "keys: [{type: command, command: [sh, key.sh]}]\n");
    place.write("w.yaml", "workflow: {name: w}\nsteps: [{name: a, type: set, value: 1}]\n");
    const first = place.start(["run", "w.yaml", "--task", "t"]);
    await until("the key command runs", () => place.ledger().length === 1);
    await killWithKeeper(place, first);
    const [command = 0] = numbersIn(place);
    expect(isRunning(command)).toBe(true);
    rmSync(join(place.folder, "hang"));
    await place.run(["run", "w.yaml", "--task", "t"]);
    expect(isRunning(command)).toBe(false);
  });
});
