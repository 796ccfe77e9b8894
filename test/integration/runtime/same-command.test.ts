/** The same command typed once more: it goes on, tells what is waited for, or is refused; it never acts twice. */
import { describe, expect, it } from "vitest";
import { errorCodeOf } from "../../../src/index.js";
import { definePaying, openTypist } from "../../support/typed-again.js";

const HOUR_MS = 3_600_000;
const codeOf = async (act: Promise<unknown>): Promise<unknown> =>
  errorCodeOf(await act.catch((error: unknown) => error));

describe("the same run beside a task that waits", () => {
  it.each(["memory", "file", "sqlite"])(
    "[first-use F1] ends with its status, names the answer, and starts nothing (%s)",
    async (store) => {
      const { ledger, splashdown, type } = await openTypist(store);
      const workflow = definePaying(ledger, { gate: true });
      const first = await type(workflow);
      for (let typed = 0; typed < 3; typed += 1) {
        const again = await type(workflow);
        expect(again).toMatchObject({ task: first.task, how: "finished_before", status: "waiting", exit_status: 20 });
        expect(again.questions.map(({ command }) => command)).toEqual([
          expect.stringContaining(`answer ${first.task} `),
        ]);
        expect(again.notices).toEqual([
          `task ${first.task} of this workflow and these inputs waits for an answer; nothing ran. Start another with --new`,
        ]);
      }
      expect(ledger).toEqual(["draft"]);
      expect(await splashdown.list()).toHaveLength(1);
      await splashdown.answer({ task: first.task, answer: "send" });
      expect(await type(workflow)).toMatchObject({ task: first.task, how: "resumed", status: "done" });
      expect(ledger).toEqual(["draft", "mail"]);
    },
  );

  it("[first-use F1 kin] answers it with --answer and goes on", async () => {
    const { ledger, type } = await openTypist();
    const workflow = definePaying(ledger, { gate: true });
    await type(workflow);
    expect(await type(workflow, { answers: { ok: "send" } })).toMatchObject({ status: "done", how: "resumed" });
    expect(ledger).toEqual(["draft", "mail"]);
  });

  it("[first-use F1 kin] asks there and then where there is a terminal", async () => {
    const { ledger, type, open } = await openTypist("file");
    const workflow = definePaying(ledger, { gate: true });
    const { task } = await type(workflow);
    const asked: string[] = [];
    const terminal = await open({
      ask: ({ text }) => {
        asked.push(text);
        return Promise.resolve({ answer: "send" });
      },
    });
    expect(await terminal.run({ workflow })).toMatchObject({ task, status: "done" });
    expect(asked).toEqual(["Send?"]);
    expect(ledger).toEqual(["draft", "mail"]);
  });

  it("[first-use F1 kin] at a limit ends with 21, and goes on when the limit was extended", async () => {
    const { ledger, splashdown, type } = await openTypist();
    const workflow = definePaying(ledger, { limits: { max_iterations: 1 } });
    const { task } = await type(workflow);
    expect(await type(workflow)).toMatchObject({ task, exit_status: 21, how: "finished_before" });
    await splashdown.answer({ task, answer: "extend", more: "max_iterations=5" });
    expect(await type(workflow)).toMatchObject({ task, status: "done" });
    expect(ledger).toEqual(["draft", "mail"]);
  });

  it("[first-use F1 kin] however long it has waited", async () => {
    const { ledger, type, wait } = await openTypist();
    const workflow = definePaying(ledger, { gate: true });
    const { task } = await type(workflow);
    wait(30 * HOUR_MS);
    expect(await type(workflow)).toMatchObject({ task, exit_status: 20 });
    expect(ledger).toEqual(["draft"]);
  });

  it("starts another with --new, and one of other inputs", async () => {
    const { ledger, splashdown, type } = await openTypist();
    const workflow = definePaying(ledger, { gate: true });
    await type(workflow);
    await type(workflow, { fresh: true });
    await type(workflow, { inputs: { to: "bob" } });
    expect(ledger).toEqual(["draft", "draft", "draft"]);
    expect(await splashdown.list()).toHaveLength(3);
    // Two wait now, and neither is picked.
    expect(await codeOf(type(workflow))).toBe("TASK_AMBIGUOUS");
    expect(ledger).toEqual(["draft", "draft", "draft"]);
  });
});

describe("the same run beside a task that failed", () => {
  it("[first-use F1 kin] tries the failed step again, keeps what is done, and says so", async () => {
    const { ledger, said, splashdown, type } = await openTypist("file");
    let isBroken = true;
    const workflow = definePaying(ledger, { isBroken: () => isBroken });
    const { task } = await type(workflow);
    expect(await type(workflow)).toMatchObject({ task, status: "failed", exit_status: 4 });
    isBroken = false;
    expect(await type(workflow)).toMatchObject({ task, status: "done", how: "resumed" });
    expect(said).toContainEqual(expect.stringContaining(`task ${task} failed before`));
    expect(ledger).toEqual(["draft", "mail"]);
    expect(await splashdown.list()).toHaveLength(1);
  });

  it("[first-use F1 kin] under --task alike", async () => {
    const { ledger, type } = await openTypist();
    let isBroken = true;
    const workflow = definePaying(ledger, { isBroken: () => isBroken });
    await type(workflow, { task: "t" });
    isBroken = false;
    expect(await type(workflow, { task: "t" })).toMatchObject({ status: "done", how: "resumed" });
    expect(await type(workflow, { task: "t" })).toMatchObject({ status: "done", how: "finished_before" });
    expect(ledger).toEqual(["draft", "mail"]);
  });

  it("starts a new task where the one before is done", async () => {
    const { ledger, type } = await openTypist();
    const workflow = definePaying(ledger);
    const first = await type(workflow);
    expect((await type(workflow)).task).not.toBe(first.task);
    expect(ledger).toEqual(["draft", "mail", "draft", "mail"]);
  });
});

describe("the same run beside one that runs", () => {
  it.each(["memory", "file", "sqlite"])("[first-use F1 kin] is refused with 11 (%s)", async (store) => {
    const { ledger, type, open } = await openTypist(store);
    let typedAgain: unknown;
    const workflow = definePaying(ledger, {
      during: async () => {
        // The memory of a store is its own process's.
        const other =
          store === "memory" ? { run: (given: { workflow: object }) => type(given.workflow) } : await open();
        typedAgain ??= await codeOf(other.run({ workflow }));
      },
    });
    expect(await type(workflow)).toMatchObject({ status: "done" });
    expect(typedAgain).toBe("OWNER_ALIVE");
    expect(ledger).toEqual(["draft", "mail"]);
  });

  it.each(["memory", "file", "sqlite"])(
    "[first-use F1 kin] starts no twin where several are typed at the same moment (%s)",
    async (store) => {
      const { ledger, splashdown, type, open } = await openTypist(store);
      const workflow = definePaying(ledger);
      const others = store === "memory" ? [splashdown, splashdown] : [await open(), await open()];
      const outcomes = await Promise.allSettled([type(workflow), ...others.map((other) => other.run({ workflow }))]);
      expect(ledger).toEqual(["draft", "mail"]);
      expect(await splashdown.list()).toHaveLength(1);
      for (const outcome of outcomes)
        expect(outcome.status === "fulfilled" ? outcome.value.status : errorCodeOf(outcome.reason)).toMatch(
          /^(done|OWNER_ALIVE)$/,
        );
    },
  );
});

describe("the same run after take_up_within", () => {
  it("[kinds F17] names what it passes over, with resume, and starts another", async () => {
    const { ledger, said, type, wait } = await openTypist();
    let isBroken = true;
    const workflow = definePaying(ledger, { isBroken: () => isBroken });
    const { task } = await type(workflow);
    wait(13 * HOUR_MS);
    isBroken = false;
    const view = await type(workflow);
    expect(view).toMatchObject({ status: "done", how: "started" });
    expect(view.task).not.toBe(task);
    const told = [expect.stringContaining(`task ${task} of this workflow and these inputs is failed since `)];
    expect(view.notices).toEqual(told);
    expect(view.notices[0]).toContain(`splashdown resume ${task}`);
    expect(said).toEqual(expect.arrayContaining(told));
  });

  it("[kinds F17 kin] goes on within it, also on a clock that was put back", async () => {
    const { ledger, type, wait } = await openTypist();
    let isBroken = true;
    const workflow = definePaying(ledger, { isBroken: () => isBroken });
    const { task } = await type(workflow);
    wait(11 * HOUR_MS);
    expect(await type(workflow)).toMatchObject({ task, status: "failed" });
    wait(-40 * HOUR_MS);
    isBroken = false;
    expect(await type(workflow)).toMatchObject({ task, status: "done" });
    expect(ledger).toEqual(["draft", "mail"]);
  });

  it("[kinds F17 kin] names no task of another workflow or other inputs", async () => {
    const { ledger, type, wait } = await openTypist();
    const workflow = definePaying(ledger, { isBroken: () => true });
    await type(workflow, { inputs: { to: "bob" } });
    wait(13 * HOUR_MS);
    expect((await type(workflow)).notices).toEqual([]);
  });

  it("[kinds F17 kin] under its name goes on however old it is", async () => {
    const { ledger, type, wait } = await openTypist();
    let isBroken = true;
    const workflow = definePaying(ledger, { isBroken: () => isBroken });
    await type(workflow, { task: "t" });
    wait(100 * HOUR_MS);
    isBroken = false;
    expect(await type(workflow, { task: "t" })).toMatchObject({ task: "t", status: "done" });
    expect(ledger).toEqual(["draft", "mail"]);
  });
});
