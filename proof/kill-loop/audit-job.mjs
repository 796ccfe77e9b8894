// The main job: the code audit over a real tree, the example's own.
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where the report begins to tell how it came about; a person's answers stand there. */
const ORIGIN = "## How this report came about";
const TOLD_OF_ANSWERS = ["report.md", "report.json", "output", "deliverables", "decisions"];

/** Over a copy without a repository around it: what git says differs from clone to clone. */
export function createAuditJob({ root, folder }) {
  const example = join(root, "examples/code-audit");
  const audited = join(folder, "audited");
  cpSync(example, audited, { recursive: true });
  const prepare = (place) => prepareAudit(place, { example, audited });
  return { name: "audit", usualMs: 1200, prepare, toldOfAnswers: TOLD_OF_ANSWERS };
}

function prepareAudit(place, { example, audited }) {
  const final = (name) => readFileSync(join(place.outputs, "audit/final", name), "utf8");
  return {
    file: join(example, "workflow.yaml"),
    inputs: [`folder=${audited}`],
    arm: () => undefined,
    answer: ({ id, kind }) => {
      if (kind === "parked_step") return { answer: "rerun" };
      throw new Error(`the audit has no effects, and asked ${id}`);
    },
    findFaults: () => [],
    readResult: (view) => ({
      "report.md": final("report.md"),
      "report.md without its origin": final("report.md").split(ORIGIN)[0],
      "report.json": final("report.json"),
      output: JSON.stringify(view.output),
      deliverables: JSON.stringify(view.deliverables.map(({ file, sha256 }) => [file.split("/").at(-1), sha256])),
      phases: JSON.stringify(
        view.phases.map(({ name, status, iteration, confidence }) => [name, status, iteration, confidence]),
      ),
      decisions: JSON.stringify(
        view.decisions.map(({ type, description, rationale }) => [type, description, rationale]),
      ),
    }),
  };
}
