/** A program that calls a verb with something else is told what belongs there, before anything is done. */
import { describe, expect, it } from "vitest";
import { checkCalls } from "../../../src/runtime/call-check.js";
import { isErrorCode, messageOf } from "../../../src/base/errors.js";

type Verb = (...given: readonly unknown[]) => Promise<unknown>;
const NAMES = ["run", "dryRun", "resume", "resumeFromCheckpoint", "fork", "answer", "guide", "request", "show", "list"];
const verbs = checkCalls(
  Object.fromEntries(NAMES.map((name): [string, Verb] => [name, async (...given) => Promise.resolve([name, given])])),
);

const saidOf = async (verb: string, ...given: readonly unknown[]): Promise<string> => {
  try {
    await verbs[verb]?.(...given);
    return "nothing";
  } catch (error) {
    expect(isErrorCode(error, "USAGE_INVALID")).toBe(true);
    return messageOf(error);
  }
};

describe("a call of the library", () => {
  it.each<[string, readonly unknown[], string]>([
    ["answer", [{ task: "t", value: 1 }], "answer needs answer (value was given), as in answer({ task:"],
    ["answer", [], "answer takes an object of options, not nothing"],
    ["answer", ["t", "yes"], "answer takes an object of options, not a text"],
    ["answer", [{ answer: "yes" }], "answer needs task"],
    ["answer", [{ task: "t", answer: true }], "answer takes a text as answer, not a boolean"],
    ["resume", ["t"], 'resume takes an object of options, not a text, as in resume({ task: "report" })'],
    ["resume", [{}], "resume needs task or checkpointId"],
    ["resume", [{ name: "t" }], "resume needs task or checkpointId (name was given)"],
    ["run", ["flow.yaml"], "run takes an object of options, not a text"],
    ["run", [{ worflow: "flow.yaml" }], "run needs workflow (worflow was given)"],
    ["run", [{ workflow: 5 }], "run takes a file or a workflow as workflow, not a number"],
    ["run", [{ workflow: "f", inputs: [1] }], "run takes an object as inputs, not a list"],
    ["dryRun", [undefined], "dryRun takes an object of options, not nothing"],
    [
      "resumeFromCheckpoint",
      [undefined],
      "resumeFromCheckpoint takes a checkpoint id as its first argument, not nothing",
    ],
    ["fork", [{ task: "t" }], "fork takes a task as its first argument, not an object"],
    ["fork", ["t"], "fork takes an object of options, not nothing"],
    ["guide", [{ task: "t" }], "guide needs text"],
    ["request", ["t"], "request takes pause, stop or checkpoint as its second argument, not nothing"],
    ["show", [5], "show takes a task as its first argument, not a number"],
  ])("%s(%j) is told apart [first-use F5] [public 6 kin]", async (verb, given, message) => {
    expect(await saidOf(verb, ...given)).toContain(message);
  });

  it("is carried out as it is where it is right, whatever else it has", async () => {
    const options = { workflow: { workflow: { name: "w" } }, task: undefined, signal: new AbortController().signal };
    expect(await verbs["run"]?.(options)).toEqual(["run", [options]]);
    expect(await verbs["list"]?.(1, 2)).toEqual(["list", [1, 2]]);
    expect(await saidOf("answer", { task: "t", answer: "yes", more: "so" })).toBe("nothing");
  });
});
