import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import { loadText } from "../../support/workflow-files.js";

const ROUTED = "workflow: {name: t, entry_point: g}\nagents:\n";
const DAG = "workflow: {name: t}\nsteps:\n";
const END = "  - {name: x, type: set, value: 1, routes: [{to: $end}]}\n";

async function messagesOf(text: string): Promise<string[]> {
  try {
    await loadText(text);
    return [];
  } catch (error) {
    if (!(error instanceof SplashdownError)) throw error;
    return (error.details["faults"] as { message: string }[]).map(({ message }) => message);
  }
}

describe("a gate in a file", () => {
  it("is read with its options, their routes and what goes with them", async () => {
    const { definition } = await loadText(
      `${ROUTED}  - name: g
    type: human_gate
    prompt: "{{ workflow.name }}?"
    default: no
    timeout: 2h
    on_timeout: no
    options: [{label: Yes, value: yes, route: x}, {label: No, value: no, route: $end, prompt_for: why, multiline: true}]
${END}`,
    );
    expect(definition.root.children[0]).toMatchObject({
      kind: "human_gate",
      effects: "none",
      default: "no",
      timeoutMs: 7_200_000,
      onTimeout: "no",
      options: [
        { value: "yes", label: "Yes", route: "x", multiline: false },
        { value: "no", label: "No", route: "$end", promptFor: "why", multiline: true },
      ],
    });
  });

  it("leads to what its options name: that is reached, and what none names is not", async () => {
    const gate = "  - {name: g, type: human_gate, prompt: p, options: [{label: a, value: a, route: x}]}\n";
    expect(await messagesOf(`${ROUTED}${gate}${END}`)).toEqual([]);
    const { notes } = await loadText(`${ROUTED}${gate}${END}  - {name: y, value: 1}\n`);
    expect(notes.join("\n")).toContain("no route leads to y: it never runs");
  });

  it.each([
    ["{name: g, type: human_gate, options: [{value: a, route: x}]}", "the gate g has no prompt"],
    ["{name: g, type: human_gate, prompt: p}", "the gate g has no options"],
    ["{name: g, prompt: p, options: [{value: a, route: nowhere}]}", "there is no step nowhere to go to"],
    ["{name: g, prompt: p, options: [{value: a, route: x}, {value: b}]}", "nothing says where b leads"],
    ["{name: g, prompt: p, options: [{value: a, route: x}, {value: a, route: x}]}", "two options have the value a"],
    ["{name: g, prompt: p, default: c, options: [{value: a, route: x}]}", 'default is "c", which is no option'],
    [
      "{name: g, prompt: p, timeout: 5s, options: [{value: a, route: x}]}",
      "g has a timeout, and nothing says what is answered then",
    ],
    ["{name: g, prompt: p, on_timeout: a, options: [{value: a, route: x}]}", "on_timeout goes with timeout"],
    ["{name: g, prompt: p, options: [{value: a, rout: x}]}", 'unknown key "rout" in agents[0].options[0]'],
    ["{name: g, prompt: p, model: m, options: [{value: a, route: x}]}", "model has no meaning for a human_gate step"],
    [
      "{name: g, prompt: p, options: [{value: a, route: x}], allow_back: true}",
      "allow_back has no meaning for a human_gate step",
    ],
  ])("FAULTS 49: %s is told: %s", async (step, message) => {
    expect(await messagesOf(`${ROUTED}  - ${step}\n${END}`)).toContain(message);
  });

  it("FAULTS 49: a key of a gate at a step that is none is no silent word", async () => {
    expect(await messagesOf(`${DAG}  - {name: a, command: [x], on_timeout: reject}\n`)).toEqual([
      "on_timeout has no meaning for a command step",
    ]);
    expect(await messagesOf(`${DAG}  - {name: g, prompt: p, options: [{value: a, route: x}]}\n`)).toEqual([
      "an answer leads to a step only among agents, and x is one",
    ]);
  });
});

describe("questions in a file", () => {
  it("are read as texts and maps, with what people may do", async () => {
    const { definition } = await loadText(
      `${ROUTED}  - {name: g, type: questions, questions: [one?, {id: b, question: two?, choices: [1, x]}], allow_abort: true, abort_route: x}\n${END}`,
    );
    expect(definition.root.children[0]).toMatchObject({
      kind: "questions",
      items: [
        { id: "q1", text: "one?", choices: [], allowFreeText: true, required: false },
        { id: "b", text: "two?", choices: ["1", "x"] },
      ],
      allow: { back: true, skip: true, skipAll: true, abort: true },
      abortRoute: "x",
    });
  });

  it.each([
    ["{name: g, type: questions}", "the step g needs exactly one of questions and source"],
    [
      "{name: g, type: questions, questions: [a], source: x.output.y}",
      "the step g needs exactly one of questions and source",
    ],
    ["{name: g, questions: [{id: a, hint: h}]}", "the question a asks nothing"],
    [
      "{name: g, questions: [{text: a, allow_free_text: false}]}",
      "the question q1 has no choices and takes no text, so nothing can answer it",
    ],
    ["{name: g, questions: [{id: a, text: a}, {id: a, text: b}]}", "two questions have the id a"],
    ["{name: g, questions: [a], abort_route: x}", "abort_route goes with allow_abort: true"],
    ["{name: g, questions: [a], timeout: 1h, on_timeout: abort}", 'on_timeout of questions is skip_all, not "abort"'],
  ])("%s is told: %s", async (step, message) => {
    expect(await messagesOf(`${ROUTED}  - ${step}\n${END}`)).toContain(message);
  });
});

describe("other steps that nobody performs", () => {
  it.each([
    ["{name: g, type: terminate, reason: r}", "the step g has no status"],
    ["{name: g, type: terminate, status: failed}", "the step g has no reason"],
    ["{name: g, status: failed, reason: r, routes: [{to: x}]}", "a terminate step ends the workflow and goes nowhere"],
    ["{name: g, url: nowhere}", "the step g needs an address"],
  ])("%s is told: %s", async (step, message) => {
    expect(await messagesOf(`${ROUTED}  - ${step}\n${END}`)).toContain(message);
  });

  it("a terminate step inside a group cannot end the workflow", async () => {
    expect(await messagesOf(`${DAG}  - {name: a, type: terminate, status: failed, reason: r}\n`)).toEqual([
      "a cannot end the workflow from inside a group",
    ]);
  });

  it("a request that only reads has no effects, any other is external until it says otherwise", async () => {
    const { definition } = await loadText(
      `${DAG}  - {name: a, url: "http://x/y"}\n  - {name: b, url: "http://x/y", method: POST}\n  - {name: c, url: "http://x/y", method: PUT, effects: idempotent}\n`,
    );
    expect(definition.root.children.map((child) => (child as { effects?: string }).effects)).toEqual([
      "none",
      "external",
      "idempotent",
    ]);
  });
});
