/** A workflow that fills the disk its store lies on. */

interface FillingOptions {
  /** Steps, `step_1` and so on. */
  readonly count: number;
  /** Absolute path of the file that each step writes its name into. */
  readonly ledger: string;
}

/** Steps in a row, each with an output of 120 KB that no compression makes small. Shape: the workflow's file. */
export function writeFilling(
  place: { write(name: string, text: string): string },
  { count, ledger }: FillingOptions,
): string {
  const program = place.write(
    "fill.mjs",
    `import { appendFileSync } from "node:fs";
import { createHash } from "node:crypto";
const [name, ledger] = process.argv.slice(2);
appendFileSync(ledger, name + "\\n");
let text = "";
for (let n = 0; text.length < 120_000; n += 1) text += createHash("sha512").update(name + n).digest("base64");
process.stdout.write(JSON.stringify({ output: { name, text } }));
`,
  );
  const names = Array.from({ length: count }, (_each, index) => `step_${index + 1}`);
  const agents = names.map((name, index) => ({
    name,
    command: [process.execPath, program, name, ledger],
    effects: "external",
    routes: [{ to: names[index + 1] ?? "$end" }],
  }));
  const workflow = { name: "filling", entry_point: names[0], limits: { max_iterations: 100 } };
  const output = { last: `{{ step_${count}.output.name }}`, first: "{{ step_1.output.text | length }}" };
  return place.write("filling.json", JSON.stringify({ workflow, agents, output }));
}
