/** What `list` costs a task: calls of the file system, which are what it spends its time on. */
import { expect, it, onTestFinished } from "vitest";
import type { FileSystem } from "../../../src/base/file-system.js";
import { createNodeFileSystem } from "../../../src/base/node-file-system.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { changeFileSystem } from "../../support/changed-file-system.js";
import { openPlace } from "../../support/command-place.js";

const WORKFLOW = `workflow: {name: other, entry_point: a}
agents: [{name: a, type: set, value: 7, routes: [{to: $end}]}]
output: {a: "{{ a.output }}"}
`;

/** Calls for each further task of the list. */
async function countCalls(text = WORKFLOW): Promise<Record<string, number>> {
  const place = openPlace();
  const workflow = place.write("other.yaml", text);
  const environment = createEnvironment({ PATH: process.env["PATH"] ?? "", ...place.env }, place.folder);
  const counts = { readdir: 0, lstat: 0, open: 0 };
  const inner = createNodeFileSystem();
  const counted = <T>(name: keyof typeof counts, result: T): T => {
    counts[name] += 1;
    return result;
  };
  const fileSystem: FileSystem = changeFileSystem(inner, {
    readdir: (path) => counted("readdir", inner.readdir(path)),
    look: (path) => counted("readdir", inner.look(path)),
    lstat: (path) => counted("lstat", inner.lstat(path)),
    open: (path, intent) => counted("open", inner.open(path, intent)),
  });
  const splashdown = await openSplashdown({ store: "file:outputs", environment, fileSystem });
  onTestFinished(() => splashdown.close());
  const measure = async () => {
    Object.assign(counts, { readdir: 0, lstat: 0, open: 0 });
    await splashdown.list();
    return { ...counts };
  };
  await splashdown.run({ workflow, task: "t1" });
  const one = await measure();
  for (const task of ["t2", "t3", "t4", "t5"]) await splashdown.run({ workflow, task });
  const five = await measure();
  return Object.fromEntries(Object.entries(five).map(([name, count]) => [name, (count - one[name as "open"]) / 4]));
}

it("[public Z] list reads few folders and files for each task", async () => {
  const calls = await countCalls();
  expect(calls["readdir"]).toBeLessThanOrEqual(10);
  expect(calls["open"]).toBeLessThanOrEqual(12);
  expect(calls["lstat"]).toBeLessThanOrEqual(22);
});

it.each([
  [
    "[public Z kin] a task that waits for a person",
    "{name: a, type: human_gate, prompt: go?, options: [{label: A, value: a, route: $end}]}",
  ],
  ["[public Z kin] a task that failed", "{name: a, type: set, value: x, output_type: integer}"],
  [
    "[public Z kin] a task of many steps",
    Array.from(
      { length: 9 },
      (_none, at) =>
        `{name: ${at === 0 ? "a" : `s${at}`}, type: set, value: 1, routes: [{to: ${at === 8 ? "$end" : `s${at + 1}`}}]}`,
    ).join(", "),
  ],
])("%s: list reads no more for it", async (_what, agents) => {
  const calls = await countCalls(`workflow: {name: other, entry_point: a}\nagents: [${agents}]\n`);
  expect(calls["readdir"]).toBeLessThanOrEqual(10);
  expect(calls["open"]).toBeLessThanOrEqual(12);
  expect(calls["lstat"]).toBeLessThanOrEqual(22);
});
