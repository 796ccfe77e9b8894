import { readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import type { JsonObject } from "../../../src/base/json.js";
import { validateSpecialistMessage } from "../../../src/schema/generated/specialist-protocol.js";
import { FakeClock } from "../../support/fake-clock.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { isRunning } from "../../support/process-probe.js";
import { until } from "../../support/real-clock.js";
import { createRecordingSink } from "../../support/recording-sink.js";
import { createStepWork, type WorkParts } from "../../support/step-work.js";

let room: PerformerRoom;
beforeEach(() => {
  room = openPerformerRoom();
});
afterEach(() => room.close());

const shell = (script: string, parts: WorkParts = {}) =>
  createStepWork("command", { ...parts, rendered: { command: ["sh", "-c", script], ...parts.rendered } });
const says = (report: unknown, parts: WorkParts = {}) =>
  shell('printf %s "$REPORT"', { ...parts, rendered: { environment: { REPORT: JSON.stringify(report) } } });

describe("a command specialist's input", () => {
  it("is the document of the protocol, whole", async () => {
    const outcome = await room.perform(
      shell("cat", {
        step: { visit: 2, attempt: 3, idempotencyKey: "key-9" },
        phase: { name: "research", number: 1, iteration: 2 },
        inputs: { market: "bicycles" },
        input: { list: [1] },
        outputs: { other: { at: { $t: "date", v: "2024-01-02T00:00:00.000Z" }, odd: { $t: "obj", v: { $t: "x" } } } },
        feedback: ["shorter"],
        guidanceNow: () => ["in euros"],
        uncertainties: [{ text: "price of B" }],
        milestone: { name: "listed", state: { next: 17 } },
        story: () => ({ evaluations: [{ score: 80 }], decisions: [], confidence: { research: 0.8 }, task: "forged" }),
      }),
    );
    expect(outcome).toEqual({
      status: "completed",
      output: {
        task: { name: "audit-1", id: "8f14e45f-ceea-4c7a-9b1d-1f0c8f6a2b3c" },
        phase: { name: "research", number: 1, iteration: 2 },
        step: { name: "work", path: "root/work", visit: 2, attempt: 3, idempotency_key: "key-9" },
        inputs: { market: "bicycles" },
        input: { list: [1] },
        outputs: { other: { at: "2024-01-02T00:00:00.000Z", odd: { $t: "obj", v: { $t: "x" } } } },
        feedback: ["shorter"],
        guidance: ["in euros"],
        uncertainties: [{ text: "price of B" }],
        resume: { milestone: { name: "listed", state: { next: 17 } } },
        evaluations: [{ score: 80 }],
        decisions: [],
        confidence: { research: 0.8 },
      },
    });
    const { output } = outcome as unknown as { output: JsonObject };
    expect(validateSpecialistMessage(output).ok).toBe(true);
  });

  it("has the story put together once, and only for those who are told it", async () => {
    let built = 0;
    const story = () => {
      built += 1;
      return { evaluations: [], decisions: [], confidence: {} };
    };
    const own = openPerformerRoom({ environment: { PATH: "/usr/bin:/bin", TOKEN: "t0ken" } });
    const definition = { secrets: ["TOKEN"] };
    await own.perform(createStepWork("script", { story, definition, rendered: { command: ["true"] } }));
    await own.performer.probe(shell("true", { story, definition: { probe: ["true"] } }), new AbortController().signal);
    expect(built).toBe(0);
    await own.perform(shell("cat", { story, definition }));
    expect(built).toBe(1);
    await own.close();
  });

  it("says null where there is nothing to resume", async () => {
    const outcome = await room.perform(shell("cat"));
    expect(outcome).toMatchObject({ output: { resume: null, feedback: [] } });
  });
});

describe("a command specialist's environment", () => {
  const environment = {
    PATH: "/usr/bin:/bin",
    HOME: "/home/x",
    LC_TIME: "C",
    TOKEN: "t0ken",
    OTHER: "not handed on",
    SPLASHDOWN_KEY: "never",
    WORKFLOW_CHECKPOINT_DSN: "never",
  };
  const script = "env | sort | grep -v ^_= | sed 's/.*/\"&\",/' | tr -d '\\n' | sed 's/^/[/; s/,$/]/'";

  it("A5: is the minimal one, what the step names, and the protocol's, but none of our own", async () => {
    const own = openPerformerRoom({ environment });
    const outcome = await own.perform(
      shell(script, {
        definition: { secrets: ["TOKEN"] },
        rendered: { environment: { MODE: "fast", COUNT: 3, HOME: "/tmp", SPLASHDOWN_STEP: "forged" } },
      }),
    );
    expect(outcome).toMatchObject({
      status: "completed",
      output: [
        "COUNT=3",
        "HOME=/tmp",
        "LC_TIME=C",
        "MODE=fast",
        "PATH=/usr/bin:/bin",
        "PWD=/",
        "SHLVL=1",
        "SPLASHDOWN_ATTEMPT=1",
        expect.stringMatching(/^SPLASHDOWN_GROUP=[\d.-]{16,}$/) as string,
        "SPLASHDOWN_IDEMPOTENCY_KEY=key-1",
        "SPLASHDOWN_OUTPUT_FOLDER=/outputs/audit-1",
        "SPLASHDOWN_STEP=root/work",
        "SPLASHDOWN_TASK=audit-1",
        "TOKEN=t0ken",
      ],
    });
    expect(own.warnings).toEqual([
      "step root/work names the variable SPLASHDOWN_STEP, which is not handed to children",
    ]);
    await own.close();
  });

  it.each([
    ["SPLASHDOWN_KEY", "which is splashdown's own and is handed to nobody"],
    ["WORKFLOW_CHECKPOINT_DSN", "which is splashdown's own and is handed to nobody"],
    ["MISSING", "set the environment variable of that name, then resume"],
  ])("A5: a step that names the secret %s does not run", async (name, text) => {
    const own = openPerformerRoom({ environment });
    const sink = createRecordingSink();
    expect(await own.perform(shell("true", { definition: { secrets: [name] } }), { sink })).toMatchObject({
      status: "failed",
      error: { code: "INPUT_INVALID", message: expect.stringContaining(text) as string, retryable: false },
    });
    expect(sink.calls).toEqual([]);
    await own.close();
  });

  it("must be able to hold every variable that the step names", async () => {
    expect(await room.perform(shell("true", { rendered: { environment: { "a.b": "1" } } }))).toMatchObject({
      status: "failed",
      error: { code: "VALUE_UNSUPPORTED", retryable: false, details: { name: "a.b" } },
    });
  });

  it("has secrets in place of their placeholders, in arguments, variables and input alike", async () => {
    const own = openPerformerRoom({ environment });
    const echo = 'printf \'["%s","%s","%s",\' "$1" "$HEADER" "$2"; cat; echo ]';
    const outcome = await own.perform(
      createStepWork("command", {
        definition: { secrets: ["TOKEN"] },
        input: { auth: ["key {{ secrets.TOKEN }}"] },
        rendered: {
          command: ["sh", "-c", echo, "-", "x{{ secrets.TOKEN }}", "{{ secrets.OTHER }}"],
          environment: { HEADER: "Bearer {{ secrets.TOKEN }}" },
        },
        secretPlaces: [
          { path: ["input", "auth", 0], at: 4, name: "TOKEN" },
          { path: ["command", 4], at: 1, name: "TOKEN" },
          { path: ["environment", "HEADER"], at: 7, name: "TOKEN" },
        ],
      }),
    );
    const { output } = outcome as unknown as { output: [string, string, string, JsonObject] };
    expect(output.slice(0, 3)).toEqual(["xt0ken", "Bearer t0ken", "{{ secrets.OTHER }}"]);
    expect(output[3]["input"]).toEqual({ auth: ["key t0ken"] });
    await own.close();
  });
});

describe("a command specialist's report", () => {
  it("may be an envelope with confidence in parts", async () => {
    const parts = { knowledge: 0.9, information: 0.7, implementation: 1, validation: 0 };
    const report = {
      output: [1],
      confidence: parts,
      factors: ["a"],
      uncertainties: ["b", { c: 1 }],
      blockers: [],
      assumptions: ["d"],
    };
    expect(validateSpecialistMessage(report).ok).toBe(true);
    expect(await room.perform(says(report))).toEqual({ status: "completed", ...report });
  });

  it.each([
    [{ a: 1 }, { a: 1 }],
    [
      [1, "x"],
      [1, "x"],
    ],
    [7, 7],
    [
      { $t: "date", v: "x" },
      { $t: "obj", v: { $t: "date", v: "x" } },
    ],
    [{ output: null, confidence: null }, null],
  ])("%j has the output %j", async (report, output) => {
    expect(await room.perform(says(report))).toEqual({ status: "completed", output });
  });

  it("is null when stdout is empty", async () => {
    expect(await room.perform(shell("true"))).toEqual({ status: "completed", output: null });
  });

  it.each([
    [{ output: 1, confidence: 85 }, "confidence is 85, but it is counted from 0 to 1: say 0.85"],
    [{ output: 1, confidence: -0.1 }, "confidence must be from 0 to 1, not -0.1"],
    [{ output: 1, confidence: 101 }, "confidence must be from 0 to 1, not 101"],
    [{ output: 1, confidence: "high" }, 'confidence must be a number from 0 to 1, not "high"'],
    [{ output: 1, confidence: { knowledge: 0.5 } }, "confidence.information must be a number from 0 to 1, not null"],
    [
      { output: 1, confidence: { knowledge: 1, information: 1, implementation: 1, validation: 70 } },
      "confidence.validation is 70, but it is counted from 0 to 1: say 0.7",
    ],
    [{ output: 1, factors: "one" }, 'factors must be a list, not "one"'],
    [{ output: 1, blockers: [1] }, "blockers must be a list of texts"],
    [
      { output: 1, result: 2 },
      'beside "output" a report may have confidence, factors, uncertainties, blockers, assumptions, but not result; put results inside "output"',
    ],
  ])("%j is refused", async (report, message) => {
    expect(await room.perform(says(report))).toMatchObject({
      status: "failed",
      error: { code: "STEP_OUTPUT_INVALID", message, retryable: true },
    });
  });

  it("is refused when it is not JSON, with its text kept", async () => {
    const outcome = await room.perform(shell("echo 'Here you are: {\"a\": 1}'"));
    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "STEP_OUTPUT_INVALID", details: { raw: 'Here you are: {"a": 1}\n' } },
    });
  });

  it("is refused with a cut text when it is long, and when it is no UTF-8", async () => {
    const long = await room.perform(shell("head -c 100000 /dev/zero | tr '\\0' x"));
    const raw = (long as unknown as { error: { details: { raw: string } } }).error.details.raw;
    expect(raw).toHaveLength(16 * 1024 + "… (100000 bytes)".length);
    expect(await room.perform(shell("printf '\\377'"))).toMatchObject({
      error: { code: "STEP_OUTPUT_INVALID", message: "stdout is not UTF-8 text: byte 0xff at offset 0" },
    });
  });

  it("is held against the declared output", async () => {
    const definition = { outputSchema: { type: "object", required: ["n"], properties: { n: { type: "number" } } } };
    expect(await room.perform(says({ n: 1 }, { definition }))).toMatchObject({ status: "completed", output: { n: 1 } });
    expect(await room.perform(says({ n: "1" }, { definition }))).toMatchObject({
      status: "failed",
      error: { code: "STEP_OUTPUT_INVALID", message: "the output is not what the step declares: /n must be number" },
    });
  });
});

describe("a command that fails", () => {
  it("is STEP_FAILED with its exit code and the end of stderr", async () => {
    expect(await room.perform(shell("echo one >&2; echo 'no login' >&2; exit 5"))).toEqual({
      status: "failed",
      error: {
        code: "STEP_FAILED",
        message: "sh exited with 5: no login",
        retryable: true,
        details: { exit_code: 5, signal: null, stderr: "one\nno login\n" },
      },
    });
  });

  it("is STEP_FAILED when a signal ends it", async () => {
    expect(await room.perform(shell("kill -s KILL $$"))).toMatchObject({
      error: { code: "STEP_FAILED", message: "sh was killed by SIGKILL", details: { signal: "SIGKILL" } },
    });
  });

  it("is PROGRAM_NOT_FOUND, and not retried, when there is no such program", async () => {
    const work = createStepWork("command", { rendered: { command: ["no-such-program-here"] } });
    expect(await room.perform(work)).toMatchObject({ error: { code: "PROGRAM_NOT_FOUND", retryable: false } });
  });

  it("is VALUE_TOO_LARGE, and not retried, when it writes more than a step may return", async () => {
    expect(await room.perform(shell("head -c 70000000 /dev/zero"))).toMatchObject({
      error: { code: "VALUE_TOO_LARGE", retryable: false, details: { limit: 64 * 1024 * 1024 } },
    });
  });

  it("is STEP_FAILED, and not retried, when the command is empty", async () => {
    expect(await room.perform(createStepWork("command"))).toMatchObject({
      error: { code: "STEP_FAILED", message: "the step's command is empty", retryable: false },
    });
  });
});

describe("a command's control lines", () => {
  const lines = (texts: readonly string[]) => `cat >&3 <<'END'\n${texts.join("\n")}\nEND\n`;

  it("reach the sink in order, and all before the outcome", async () => {
    const sink = createRecordingSink();
    const said = [
      { type: "progress", fraction: 0.5, message: "half" },
      { type: "milestone", name: "listed", state: { next: 17 } },
      { type: "partial", output: { a: 1 } },
      { type: "confidence", value: 0.7 },
      { type: "blocker", text: "needs a login" },
      { type: "milestone", name: "bare" },
    ];
    for (const line of said) expect(validateSpecialistMessage(line).ok).toBe(true);
    await room.perform(shell(lines(said.map((line) => JSON.stringify(line)))), { sink });
    expect(sink.calls.slice(1)).toEqual([
      ["progress", { fraction: 0.5, message: "half" }],
      ["milestone", "listed", { next: 17 }],
      ["progress", { partial: { a: 1 } }],
      ["progress", { confidence: 0.7 }],
      ["progress", { blocker: "needs a login" }],
      ["milestone", "bare", null],
    ]);
  });

  it("A4: of unknown type or form are logged and ignored", async () => {
    const sink = createRecordingSink();
    const said = [
      '{"type":"step_completed","output":1}',
      '{"type":"task_closed"}',
      "not json",
      "[1]",
      '{"type":"progress","fraction":50}',
      '{"type":"progress","message":1}',
      '{"type":"milestone"}',
      '{"type":"confidence","value":70}',
      '{"type":"blocker","text":""}',
    ];
    expect(await room.perform(shell(lines(said)), { sink })).toEqual({ status: "completed", output: null });
    expect(sink.calls.map(([name]) => name)).toEqual(["spawned"]);
    expect(room.warnings).toHaveLength(said.length);
    expect(room.warnings[7]).toContain("say 0.7");
  });

  it("end the child when a milestone finds the task lost, and the loss is thrown", async () => {
    const lost = new SplashdownError("OWNER_SUPERSEDED", "another process has claimed the task");
    const sink = createRecordingSink((name) => (name === "milestone" ? lost : undefined));
    const work = shell(`${lines(['{"type":"milestone","name":"a"}'])} sleep 600`);
    await expect(room.perform(work, { sink })).rejects.toBe(lost);
    const [[process]] = sink.of("spawned") as [[{ pid: number }]];
    expect(isRunning(process.pid)).toBe(false);
  });
});

describe("a command that is started", () => {
  it("A2: does not run when its start cannot be made durable", async () => {
    const lost = new SplashdownError("OWNER_SUPERSEDED", "another process has claimed the task");
    const mark = path.join("/tmp", `splashdown-a2-${process.pid}`);
    const work = shell(`touch ${mark}`);
    await expect(room.perform(work, { sink: createRecordingSink(() => lost) })).rejects.toBe(lost);
    expect(() => readFileSync(mark)).toThrow("ENOENT");
  });

  it("is cancelled when its attempt was closed before its start was durable", async () => {
    const closed = new SplashdownError("CANCELLED", "closed");
    expect(await room.perform(shell("true"), { sink: createRecordingSink(() => closed) })).toEqual({
      status: "cancelled",
      acted: false,
    });
  });

  it("is not even spawned under a signal that has fired", async () => {
    const sink = createRecordingSink();
    expect(await room.perform(shell("true"), { sink, signal: AbortSignal.abort() })).toEqual({
      status: "cancelled",
      acted: false,
    });
    expect(sink.calls).toEqual([]);
  });

  it("ends with its whole tree when the signal fires", async () => {
    const controller = new AbortController();
    const sink = createRecordingSink();
    const script = `sleep 600 & printf '{"type":"progress","message":"%s"}\\n' $! >&3; trap 'exit 0' TERM; wait`;
    const outcome = room.perform(shell(script), { sink, signal: controller.signal });
    await until("the grandchild is told", () => sink.of("progress").length === 1);
    controller.abort();
    expect(await outcome).toEqual({ status: "cancelled" });
    const [[report]] = sink.of("progress") as [[{ message: string }]];
    expect(isRunning(Number(report.message))).toBe(false);
  });

  it("is over with its program: what it left behind is ended and told", async () => {
    expect(await room.perform(shell("sleep 600 & echo $!"))).toMatchObject({ status: "completed" });
    expect(room.warnings).toEqual(["step root/work left processes behind; they were ended"]);
  });

  it("runs in the folder it names, from the workflow's", async () => {
    const work = shell('printf \'"%s"\' "$(pwd)"', { workflowFolder: "/usr", rendered: { folder: "bin/.." } });
    expect(await room.perform(work)).toMatchObject({ output: "/usr" });
  });
});

describe("a probe", () => {
  const { signal } = new AbortController();
  const ask = (probe: readonly string[], parts: WorkParts = {}) =>
    room.performer.probe(createStepWork("command", { ...parts, definition: { probe, ...parts.definition } }), signal);
  const script = (text: string) => ask(["sh", "-c", text]);

  it("says done with an output", async () => {
    expect(await script("echo '{\"paid\": true}'")).toEqual({ done: true, output: { paid: true } });
  });

  it("may say it as the step does, in a report", async () => {
    const report = '{"output": {"paid": true}, "confidence": 0.9}';
    expect(await script(`echo '${report}'`)).toEqual({ done: true, output: { paid: true } });
  });

  it("says not done with 3", async () => {
    expect(await script("exit 3")).toEqual({ done: false });
  });

  it.each(["exit 1", "kill -s KILL $$", "echo maybe", "head -c 70000000 /dev/zero"])(
    "does not know: %s",
    async (text) => {
      expect(await script(text)).toBeUndefined();
      expect(room.warnings).toHaveLength(1);
    },
  );

  it("does not know when there is no program, no probe, a name that is missing, or no time", async () => {
    expect(await ask(["no-such-program-here"])).toBeUndefined();
    expect(await ask(["echo", "{{ nothing.here }}"])).toBeUndefined();
    expect(room.warnings).toHaveLength(2);
    expect(await room.performer.probe(createStepWork("command"), signal)).toBeUndefined();
    const clock = new FakeClock();
    const own = openPerformerRoom({ clock });
    const answer = own.performer.probe(createStepWork("command", { definition: { probe: ["sleep", "600"] } }), signal);
    await until("the probe has its limit", () => clock.pendingCount > 0);
    await clock.advance(60_000);
    expect(await answer).toBeUndefined();
    expect(own.warnings).toEqual(["the probe of step root/work does not know: it did not end in time"]);
    await own.close();
  });

  it("sees in its templates what the step saw", async () => {
    const probe = [
      "printf",
      '"%s %s %s %s"',
      "{{ workflow.input.n }}",
      "{{ step.idempotency_key }}",
      "{{ other.output.id }}",
      "{{ secrets.TOKEN }}",
    ];
    const own = openPerformerRoom({ environment: { PATH: "/usr/bin:/bin", TOKEN: "t0ken" } });
    const work = createStepWork("command", {
      definition: { probe, secrets: ["TOKEN"] },
      inputs: { n: 4 },
      outputs: { other: { id: 7 } },
    });
    expect(await own.performer.probe(work, signal)).toEqual({ done: true, output: "4 key-1 7 t0ken" });
    await own.close();
  });
});
