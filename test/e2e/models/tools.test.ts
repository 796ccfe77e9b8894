/** Tools of model steps in the built program: servers that end with their task, approvals, and what a kill leaves. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { CommandPlace } from "../../support/command-place.js";
import { isRunning } from "../../support/process-probe.js";
import { until } from "../../support/real-clock.js";

const STRANGE = join(PROJECT_FOLDER, "test/support/programs/strange-server.mjs");

interface QuestionDocument {
  readonly questions: readonly { readonly id: string; readonly kind: string; readonly text: string }[];
}

/** A model that calls `act` of a server, then says "end"; the server behaves as `manner` says. */
function openPlace(manner: string, more = ""): CommandPlace {
  const place = new CommandPlace();
  place.write(
    "flow.yaml",
    `workflow:
  name: flow
  runtime:
    provider: scripted
    scripted_answers: {work: [{calls: [{tool: odd__act, input: {n: 1}}]}, {say: end}]}
    mcp_servers:
      odd:
        command: sh
        args: [-c, "echo $$ >> pids; exec ${process.execPath} ${STRANGE} ${manner}"]
        env: {LEDGER: ${join(place.folder, "ledger")}}
${more}steps:
  - {name: work, prompt: go}
output: {said: "{{ work.output.result }}"}
`,
  );
  return place;
}

const pidsOf = (place: CommandPlace) => place.ledger("pids").map(Number);

describe("a tool of a server", () => {
  it("is called once in the task, and its server ends with it", async () => {
    const place = openPlace("good");
    const { code, stdout } = await place.run(["run", "flow.yaml", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "done", output: { said: "end" } });
    expect(place.ledger()).toHaveLength(1);
    expect(pidsOf(place)).toHaveLength(1);
    expect(pidsOf(place).filter(isRunning)).toEqual([]);
  });

  it("is asked about when the program was killed in the middle of its call; its server is gone", async () => {
    const place = openPlace("silent");
    const running = place.start(["run", "flow.yaml", "--task", "t"]);
    await until("the tool is called", () => place.ledger().length === 1);
    running.child.kill("SIGKILL");
    await running.done;
    await until("the server has ended", () => !pidsOf(place).some(isRunning));
    const { code, stderr, stdout } = await place.run(["run", "flow.yaml", "--task", "t"]);
    expect(stdout + stderr).toContain("was calling the tool odd__act and its result was not recorded");
    expect(code).toBe(22);
    expect(place.ledger()).toHaveLength(1);
    const done = await place.run(["resume", "t", "--unknown", 'work=done:"paid"', "--json"]);
    expect(done.code).toBe(0);
    expect(place.ledger()).toHaveLength(1);
  });

  it("is asked about when its server dies in the call: it may have acted", async () => {
    const place = openPlace("dies");
    const { code, stdout, stderr } = await place.run(["run", "flow.yaml", "--task", "t"]);
    expect(stdout + stderr).toContain("the tool server odd broke off while it worked on act");
    expect([4, 22]).toContain(code);
    expect(place.ledger()).toHaveLength(1);
    const asked = await place.run(["resume", "t"]);
    expect(asked.code).toBe(22);
    expect(place.ledger()).toHaveLength(1);
  });
});

describe("an mcp step", () => {
  const CANARY = "canary-5f1e8d";
  const STEP = `steps:
  - {name: work, server: odd, tool: act, input: {n: 1, token: "{{ secrets.CANARY }}"}, secrets: [CANARY]}
output: {said: "{{ work.output.result }}"}
`;

  it("calls a tool with its input; killed in the call it is asked about, and no secret is kept", async () => {
    const place = openPlace("silent");
    place.write("flow.yaml", place.read("flow.yaml").replace(/steps:[\s\S]*$/, STEP));
    const env = { CANARY };
    const running = place.start(["run", "flow.yaml", "--task", "t"], { env });
    await until("the tool is called", () => place.ledger().length === 1);
    running.child.kill("SIGKILL");
    await running.done;
    expect(place.ledger()[0]).toContain(CANARY);
    const asked = await place.run(["run", "flow.yaml", "--task", "t"], { env });
    expect(asked.stdout + asked.stderr).toContain("was calling the tool odd__act and its result was not recorded");
    expect(asked.code).toBe(22);
    place.write("flow.yaml", place.read("flow.yaml").replace("silent", "good"));
    const again = await place.run(["resume", "t", "--unknown", "work=rerun", "--accept-changes", "--json"], { env });
    expect(again.code).toBe(0);
    expect(again.json<{ output: { said: string } }>().output.said).toMatch(/^act .*"n":1/);
    expect(place.ledger()).toHaveLength(2);
    const { stdout } = await place.run(["events", "t", "--json"]);
    expect(stdout).toContain("tool_completed");
    expect(stdout + again.stdout).not.toContain(CANARY);
  });
});

describe("a tool that must be approved", () => {
  const ASKED = "tools: [{name: odd__act, approve: always}]\n";
  const questionOf = async (place: CommandPlace) =>
    (JSON.parse((await place.run(["show", "t", "--json"])).stdout) as QuestionDocument).questions[0];

  it("is not called before a person says so, in whichever process", async () => {
    const place = openPlace("good", ASKED);
    const { code, stdout, stderr } = await place.run(["run", "flow.yaml", "--task", "t"]);
    expect(code).toBe(20);
    expect(stdout + stderr).toContain("splashdown answer");
    expect(place.ledger()).toEqual([]);
    expect(await questionOf(place)).toMatchObject({
      kind: "tool_approval",
      text: 'main/work wants to call the tool odd__act with {"n":1}',
    });
    expect((await place.run(["answer", "t", "approve"])).code).toBe(0);
    expect((await place.run(["run", "flow.yaml", "--task", "t"])).code).toBe(0);
    expect(place.ledger()).toHaveLength(1);
  });

  it("is not called when it is denied, and the model is told why", async () => {
    const place = openPlace("good", ASKED);
    await place.run(["run", "flow.yaml", "--task", "t"]);
    expect((await place.run(["answer", "t", "work", "deny", "too dear"])).code).toBe(0);
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(place.ledger()).toEqual([]);
    const events = await place.run(["events", "t", "--json"]);
    expect(events.stdout).toContain("a person does not allow this call: too dear");
  });

  it.each(["odd__act=approve", "work/odd__act=approve"])(
    "is called where --answer %s says so ahead",
    async (answer) => {
      const place = openPlace("good", ASKED);
      expect((await place.run(["run", "flow.yaml", "--answer", answer])).code).toBe(0);
      expect(place.ledger()).toHaveLength(1);
    },
  );

  it("is left open by --skip-gates, and takes nothing but approve and deny", async () => {
    const place = openPlace("good", ASKED);
    expect((await place.run(["run", "flow.yaml", "--skip-gates", "--task", "t"])).code).toBe(20);
    const wrong = await place.run(["run", "flow.yaml", "--answer", "odd__act=yes"]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain("takes approve, deny or deny:REASON");
  });
});
