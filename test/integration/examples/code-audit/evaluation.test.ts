import { generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import {
  createTree,
  EXAMPLE,
  type Json,
  measureAll,
  outputsOf,
  runRaw,
  runSpecialist,
  writeInto,
} from "../../../unit/examples/code-audit/audit-tools.js";

const block = Array.from({ length: 8 }, (_value, at) => `  doThing(${at}, "again");`).join("\n");
const KEY = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const TREE = {
  "a.ts": `// TODO: one\nexport function a() {\n${block}\n}\n`,
  "b.ts": `export function b() {\n${block}\n}\n`,
  "README.md": "# x\n",
  "lib.so": Buffer.from("7f454c4602010100", "hex"),
};

interface Score {
  readonly score: number;
  readonly issues: readonly { text: string; severity: string; where: string }[];
  readonly feedback: string;
  readonly evidence: string;
}

const score = (tool: string, folder: string, outputs: object) =>
  runSpecialist(tool, folder, { outputs, dimension: "quality", iteration: 1 }) as unknown as Score;

describe("scorers", () => {
  it("approve outputs that agree with each other and with the files", () => {
    const folder = createTree(TREE);
    const outputs = outputsOf(measureAll(folder));
    expect(score("score-completeness", folder, outputs)).toMatchObject({ score: 100, issues: [], feedback: "" });
    const evidence = score("score-evidence", folder, outputs);
    expect(evidence).toMatchObject({ score: 100, issues: [] });
    expect(evidence.evidence).toContain("markers: 1 of 1 hold");
    expect(evidence.evidence).toContain("blocks: 1 of 1 hold");
  });

  it("notice numbers that contradict each other, and outputs that are missing", () => {
    const folder = createTree(TREE);
    const outputs = outputsOf(measureAll(folder));
    const wrong = structuredClone(outputs);
    wrong["secrets"].walked.files = 99;
    wrong["inventory"].languages[0].code += 1;
    delete wrong["churn"];
    const { score: points, issues } = score("score-completeness", folder, wrong);
    expect(points).toBe(100 - 15 - 15 - 25);
    expect(issues.map(({ where }) => where)).toEqual(["churn", "secrets", "inventory"]);
  });

  it("notice claims that the files do not bear out", () => {
    const folder = createTree(TREE);
    const outputs = outputsOf(measureAll(folder));
    writeInto(folder, "a.ts", "let changed;\n");
    const { score: points, issues } = score("score-evidence", folder, outputs);
    expect(points).toBeLessThan(50);
    expect(issues.map(({ text }) => text)).toContain("does not hold: TODO at a.ts:1");
  });

  it("look again whether a folder without files is empty", () => {
    const folder = createTree({});
    const outputs = outputsOf(measureAll(folder));
    expect(score("score-evidence", folder, outputs)).toMatchObject({ score: 100, evidence: "emptiness: 1 of 1 hold" });
    writeInto(folder, "a.ts", "let changed;\n");
    expect(score("score-evidence", folder, outputs)).toMatchObject({ score: 0 });
  });

  it("ask for the files that a first pass left out, in words that the specialist understands", () => {
    const folder = createTree(TREE);
    const outputs = outputsOf(measureAll(folder, { input: { folder, first_pass_files: 1 } }));
    expect(outputs["duplicates"].coverage).toMatchObject({ eligible: 2, examined: 1 });
    const first = score("score-completeness", folder, outputs);
    expect(first.score).toBe(60);
    expect(first.feedback).toContain("duplicates: look at every file (coverage 50 %)");
    const again = outputsOf(measureAll(folder, { input: { folder, first_pass_files: 1 }, feedback: [first.feedback] }));
    expect(score("score-completeness", folder, again).score).toBe(100);
    expect(again["duplicates"].lines.duplicated).toBe(8);
  });
});

describe("report", () => {
  it("R1: is the same bytes for the same tree, whatever the order of creation", () => {
    const reversed = Object.fromEntries(Object.entries(TREE).toReversed());
    const [one, two] = [createTree(TREE), createTree(reversed)].map((folder) => {
      const outputs = outputsOf(measureAll(folder));
      return runRaw("report", { inputs: { folder: "same" }, outputs, confidence: { measure: 0.9 } });
    });
    expect(one).toBe(two);
  });

  it("puts the most important first, and says what is missing and how it came about", () => {
    const folder = createTree({ ...TREE, "k.pem": KEY });
    const { churn: _churn, ...outputs } = outputsOf(measureAll(folder));
    const evaluations = [
      {
        phase: "measure",
        iteration: 1,
        verdict: "approve",
        score: 97.25,
        dimensions: { quality: 100 },
        issues: ["a|b"],
      },
    ];
    const decisions = [{ type: "spawn", description: "launch closer-look", rationale: "confidence 0.70" }];
    const { output } = runSpecialist("report", folder, {
      outputs,
      evaluations,
      decisions,
      confidence: { measure: 0.7 },
    });
    const lines = output.markdown.split("\n");
    expect(lines[6]).toMatch(/^1\. \*\*high\*\* · 1 likely secret stands in the files/);
    expect(output.markdown).toContain("**Incomplete:** nothing was delivered by churn.");
    expect(output.markdown).toContain("| measure | 1 | approve | 97.3 | quality 100 |");
    expect(output.markdown).toContain("iteration 1: a\\|b");
    expect(output.markdown).toContain("`spawn` launch closer-look — confidence 0.70");
    expect(output.report).toMatchObject({ absent: ["churn"], churn: null, inventory: { totals: { files: 5 } } });
    expect(output.report.findings[0].severity).toBe("high");
  });

  it("says of a tree that only holds the work of others that nothing was looked at, and how it could be", () => {
    const folder = createTree({ "dist-packages/a/b.py": "x = 1\n", "dist-packages/c.py": "y = 2\n" });
    const { output } = runSpecialist("report", folder, { outputs: outputsOf(measureAll(folder)) });
    expect(output.report.findings[0]).toMatchObject({ severity: "medium" });
    expect(output.report.findings[0].text).toContain("all 2 files lie in folders that are passed over (dist-packages)");
    expect(output.markdown).toContain("- no file was read, so nothing below says more than that");
    expect(output.markdown).toContain("| `dist-packages` | 1 | 2 | dependencies, written elsewhere |");
  });

  it("[first-use F8 kin] counts in grammar, and says nothing of what is not there", () => {
    const folder = createTree({
      "a.ts": "// TODO: one\nlet a;\n",
      "package.json": '{"name":"p","dependencies":{"b":"*"}}',
      "package-lock.json":
        '{"packages":{"node_modules/b":{"version":"1.0.0","hasInstallScript":true,"deprecated":"c"}}}',
      "x.min.js": "let x\n",
    });
    const { output } = runSpecialist("report", folder, { outputs: outputsOf(measureAll(folder)) });
    expect(output.markdown).not.toMatch(
      /\b1 (?:\w+ ){0,2}(?:files|packages|lines|markers|manifests|places|folders|are|have|were)\b/,
    );
    expect(output.markdown).not.toMatch(/\b0 (?:files|packages|lock files|likely)/);
    expect(output.report.findings.map(({ text }: Json) => text)).toEqual([
      "1 locked package is marked deprecated by its author: b 1.0.0.",
      "1 run-time dependency has no version range of the registry: b (any version).",
      "1 package runs install scripts: b 1.0.0.",
      "1 marker was left by the authors in 1 file: 1 TODO.",
      "No likely secret was found in 4 text files.",
      "1 file is minified; duplicates and complexity leave it out.",
      "The only package has no known licence (it is not installed here): b.",
      expect.stringMatching(/^Nothing can be said about who changed what: no git history/),
    ]);
  });

  it("R2: says of nothing that there is nothing", () => {
    const { output, confidence } = runSpecialist("report", "x", { outputs: {} });
    expect(output.report.findings).toEqual([]);
    expect(output.markdown).toContain("**Incomplete:** nothing was delivered by inventory, dependencies,");
    expect(confidence["knowledge"]).toBe(0);
  });
});

describe("workflow.yaml", () => {
  it("follows the schema of workflow files and names tools that exist", () => {
    const schemas = join(EXAMPLE, "../../schemas");
    const load = (name: string) => JSON.parse(readFileSync(join(schemas, name), "utf8")) as object;
    const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { regex: true } });
    ajv.addSchema([load("settings.schema.json")]);
    const validate = ajv.compile(load("workflow.schema.json"));
    const workflow = parse(readFileSync(join(EXAMPLE, "workflow.yaml"), "utf8"));
    validate(workflow);
    expect(validate.errors).toBeNull();
    const text = JSON.stringify(workflow);
    const tools = [...text.matchAll(/workflow\.dir \}\}\/audit\.mjs","([\w-]+)"/g)].map((match) => String(match[1]));
    expect(tools).toHaveLength(10);
    for (const tool of tools) expect(existsSync(join(EXAMPLE, "tools", `${tool}.mjs`)), tool).toBe(true);
  });
});
