/** The reference as Markdown pages: what `docs/reference/` holds once the build has written it. */
import type { Command } from "commander";
import type { KeyEntry } from "./entry.js";
import { listCodes, listStatuses } from "./errors.js";
import { listSettings, listVariables, listWorkflowKeys } from "./keys.js";
import { listVerbs } from "./verbs.js";

/** Shape: file name → text. `library` has the declarations of what a program can import, by title. */
export function formatReference(program: Command, library: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([
    ["workflow.md", formatKeys("Workflow files", "Every key of a workflow file.", listWorkflowKeys())],
    ["settings.md", `${formatKeys("Settings", SETTINGS, listSettings())}\n${formatVariables()}`],
    ["commands.md", formatVerbs(program)],
    ["errors.md", formatErrors()],
    ["library.md", formatLibrary(library)],
  ]);
}

const SETTINGS =
  "Every key of `splashdown.config.yaml`. A workflow file may hold `store`, `calibration` and the three `…_config` blocks too; " +
  "flags and variables win over both.";

function formatKeys(title: string, about: string, entries: readonly KeyEntry[]): string {
  const owners = [...new Set(entries.map(({ owner }) => owner))];
  const sections = owners.map((owner) => {
    const own = entries.filter((entry) => entry.owner === owner);
    const places = own[0]?.places ?? [];
    const where = places[0] === "at the top" ? "At the top of the file." : `Where: ${places.map(code).join(", ")}`;
    const rows = own.map(({ key, type, default: preset, text, example, required }) => [
      `${code(key)}${required ? " (required)" : ""}`,
      type,
      preset === undefined ? "" : code(preset),
      text,
      code(example),
    ]);
    return [`## ${owner}`, "", where, "", formatTable(["key", "type", "default", "what", "example"], rows)].join("\n");
  });
  return [`# ${title}`, "", about, "", sections.join("\n\n"), ""].join("\n");
}

function formatVariables(): string {
  const rows = listVariables().map(({ name, text }) => [code(name), text]);
  return ["## Variables", "", formatTable(["variable", "what"], rows), ""].join("\n");
}

function formatVerbs(program: Command): string {
  const verbs = listVerbs(program).map(({ name, help }) => `## ${name}\n\n\`\`\`text\n${help}\n\`\`\``);
  return ["# Commands", "", "What `--help` of each verb prints.", "", verbs.join("\n\n"), ""].join("\n");
}

function formatErrors(): string {
  const statuses = listStatuses().map(({ name, text, codes }) => [name, text, codes.map(code).join(", ")]);
  const codes = listCodes().map(({ name, text, exit_status, remedy }) => [
    code(name),
    String(exit_status),
    text,
    remedy,
  ]);
  return [
    "# Exit statuses and errors",
    "",
    formatTable(["status", "meaning", "codes"], statuses),
    "",
    "## Error codes",
    "",
    "A word in capitals stands for a detail that the error tells.",
    "",
    formatTable(["code", "status", "meaning", "what to do"], codes),
    "",
  ].join("\n");
}

function formatLibrary(declarations: ReadonlyMap<string, string>): string {
  const about = 'What `import … from "splashdown"` gives. The types of options and answers come along in `dist/`.';
  const sections = [...declarations].map(([title, text]) => `## ${title}\n\n\`\`\`ts\n${text.trim()}\n\`\`\``);
  return ["# Library", "", about, "", sections.join("\n\n"), ""].join("\n");
}

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", String.raw`\|`).replaceAll("\n", " ")).join(" | ")} |`;
  return [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
}

function code(text: string): string {
  return text.includes("`") ? text : `\`${text}\``;
}
