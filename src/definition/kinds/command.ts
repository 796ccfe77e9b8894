/** Programs: a command, which gets its input as JSON on stdin, and a script, whose stdin is a text. */
import type { Step } from "../../schema/generated/workflow.js";
import type { CommandStep, ScriptStep } from "../model/step.js";
import type { NodeSite } from "./build-context.js";
import { withoutUndefined, type FileKind, type Parts, type StepKey } from "./kind.js";
import { noteTwins } from "./step-checks.js";
import { listCommand, omitUndefined, textMap } from "./step-fields.js";

const KEYS: readonly StepKey[] = ["command", "args", "env", "environment", "working_dir", "folder", "stdin", "probe"];

export const COMMAND: FileKind<CommandStep> = {
  types: ["command"],
  signs: ["command"],
  keys: KEYS,
  effects: "external",
  endedBy: "performer",
  isWork: true,
  isToldGuidance: true,
  build: (step, parts) => ({ ...buildProgram(step, "command", parts), kind: "command" }),
  render: (node, render) =>
    withoutUndefined({
      command: render.texts(node.command),
      environment: render.environment(node.environment),
      folder: render.text(node.folder),
    }),
};

export const SCRIPT: FileKind<ScriptStep> = {
  types: ["script"],
  signs: [],
  keys: KEYS,
  effects: "external",
  endedBy: "performer",
  isWork: true,
  build: (step, parts) => ({
    ...buildProgram(step, "script", parts),
    kind: "script",
    ...omitUndefined("stdin", step.stdin),
  }),
  render: (node, render) =>
    withoutUndefined({
      command: render.texts(node.command),
      environment: render.marked(node.environment),
      folder: render.text(node.folder),
      stdin: render.text(node.stdin),
    }),
};

function buildProgram(step: Step, kind: "command" | "script", { common, site }: Parts) {
  const command = listCommand(step.command, step.args);
  checkCommand(step, kind, site);
  return {
    ...common,
    command,
    environment: textMap(step.env ?? step.environment),
    ...omitUndefined("folder", step.working_dir ?? step.folder),
  };
}

/** As in Conductor the variables of a script are no templates. */
function noteLiteral({ env = {} }: Step, site: NodeSite): void {
  for (const [name, value] of Object.entries(env))
    if (String(value).includes("{{"))
      site.context.faults.warn({
        path: [...site.at, "env", name],
        message: `env of a script is no template: ${name} is handed over as it is written`,
        suggestion: "use type: command, or hand it over in args or stdin",
      });
}

function checkCommand(step: Step, kind: "command" | "script", site: NodeSite): void {
  const { command, args } = step;
  const { faults } = site.context;
  const first = Array.isArray(command) ? String(command[0]) : (command as string | undefined);
  if (first === undefined || first.trim() === "") {
    const suggestion = "write command: [program, argument, …]";
    faults.add({
      code: "missing_key",
      path: site.at,
      message: `the step ${step.name ?? ""} has no command`,
      suggestion,
    });
  }
  noteTwins(step, ["env", "environment"], site);
  noteTwins(step, ["working_dir", "folder"], site);
  if (kind === "script") return noteLiteral(step, site);
  const isLine =
    typeof command === "string" && args === undefined && /\S\s+\S/.test(command) && !command.includes("{{");
  if (isLine) {
    const suggestion = `write [${command.trim().split(/\s+/).join(", ")}]`;
    faults.add({
      code: "wrong_value",
      path: [...site.at, "command"],
      message: "a command is a list: no shell splits it",
      suggestion,
    });
  }
  if (step.stdin !== undefined) {
    const message = "a command step gets its input as JSON on stdin";
    faults.add({
      code: "misplaced_key",
      path: [...site.at, "stdin"],
      message,
      suggestion: "use input, or type: script",
      atKey: true,
    });
  }
}
