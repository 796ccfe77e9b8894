import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { EventView, RunView, TaskView, ValidateCheckpointView } from "../../../src/runtime/contract.js";
import { PROJECT_FOLDER, runCommand } from "../../support/built-program.js";
import { withFolder } from "../../support/store-places.js";

const WORKFLOW = join(PROJECT_FOLDER, "examples/code-audit/workflow.yaml");

const TREE: Readonly<Record<string, string | Uint8Array>> = {
  "package.json": JSON.stringify({ name: "shop", version: "1.0.0", license: "MIT", dependencies: { "left-pad": "*" } }),
  "src/pay.js":
    "// TODO round to cents\nexport function pay(amount) {\n  if (amount > 0) return amount;\n  return 0;\n}\n",
  "src/config.py": ['KEY = "AKIA', 'Q3EGRBTEXAMPL7ZJ"\n'].join(""),
  "src/one.js": copied("one"),
  "src/two.js": copied("two"),
  "logo.png": new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]),
};

/** Eight lines that are the same in every file, under a name that is not. */
function copied(name: string): string {
  const lines = Array.from({ length: 8 }, (_none, index) => `  total += price(${index}) * rate(${index + 1});`);
  return `export function ${name}(total) {\n${lines.join("\n")}\n  return total;\n}\n`;
}

class Shop {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  get outputs(): string {
    return join(this.#root, "outputs");
  }

  get audited(): string {
    return join(this.#root, "shop");
  }

  async fill(tree: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
    for (const [path, content] of Object.entries(tree)) {
      await mkdir(dirname(join(this.audited, path)), { recursive: true });
      await writeFile(join(this.audited, path), content);
    }
    await this.splashdown("keys", "init");
  }

  splashdown(...args: string[]) {
    const env = { HOME: this.#root, SPLASHDOWN_STORE: `file:${this.outputs}` };
    return runCommand([...args, "--json"], { cwd: this.#root, env });
  }

  audit(task: string, ...inputs: string[]) {
    const all = [`folder=${this.audited}`, ...inputs].flatMap((input) => ["--input", input]);
    return this.splashdown("run", WORKFLOW, "--task", task, ...all);
  }

  async show(task: string): Promise<TaskView> {
    return (await this.splashdown("show", task)).json<TaskView>();
  }

  async events(task: string): Promise<EventView[]> {
    return (await this.splashdown("events", task)).json<EventView[]>();
  }

  read(task: string, name: string): Promise<Buffer> {
    return readFile(join(this.outputs, task, "final", name));
  }
}

async function withShop(tree: Readonly<Record<string, string | Uint8Array>>, act: (shop: Shop) => Promise<void>) {
  await withFolder(async (root) => {
    const shop = new Shop(root);
    await shop.fill(tree);
    await act(shop);
  });
}

interface Finding {
  readonly severity: string;
  readonly text: string;
  readonly where: readonly string[];
}

describe("the main job", () => {
  it("writes a true report, sealed checkpoints and deliverables that are what it says they are", async () => {
    await withShop(TREE, async (shop) => {
      const { code, json } = await shop.audit("audit");
      expect(code).toBe(0);
      const view = json<RunView>();
      const report = JSON.parse((await shop.read("audit", "report.json")).toString()) as { findings: Finding[] };
      const texts = report.findings.map(({ severity, text, where }) => `${severity}: ${text} ${where.join(" ")}`);
      expect(texts[0]).toMatch(/^high: 1 likely secret stands in the files: .*src\/config\.py:1$/);
      expect(texts.join("\n")).toContain("there is no lock file");
      expect(texts.join("\n")).toContain("1 marker was left by the authors in 1 file: 1 TODO. src/pay.js:1");
      const markdown = (await shop.read("audit", "report.md")).toString();
      expect(markdown).toContain("6 files, ");
      expect(markdown).toContain("| 9 | 2 | `src/one.js:2-10`, `src/two.js:2-10` |");
      expect(markdown).not.toContain("AKIA");

      expect(view.deliverables.map(({ file }) => file.split("/").at(-1))).toEqual([
        "confidence.svg",
        "report.json",
        "report.md",
        "task.svg",
      ]);
      for (const { file, sha256, size } of view.deliverables) {
        const bytes = await readFile(join(view.folder, file));
        expect([createHash("sha256").update(bytes).digest("hex"), bytes.length]).toEqual([sha256, size]);
      }
      const files = (await readdir(join(shop.outputs, "audit/checkpoints"))).filter((name) => name.endsWith(".json"));
      const snapshots = files.filter((name) => name.startsWith("checkpoint_phase"));
      // The first and the last: of those between them a newer one may take the place of one that waits for the disk.
      expect(snapshots.length).toBeGreaterThanOrEqual(2);
      const newest = join(shop.outputs, "audit/checkpoints", snapshots.sort((a, b) => (a < b ? -1 : 1)).at(-1) ?? "");
      const { stdout } = await shop.splashdown("debug", "validate-checkpoint", `--file=${newest}`);
      expect(JSON.parse(stdout) as ValidateCheckpointView).toMatchObject({
        valid: true,
        header: { status: "completed" },
      });
      for (const name of files) {
        const text = await readFile(join(shop.outputs, "audit/checkpoints", name), "latin1");
        expect(text).not.toContain("left-pad");
      }
    });
  });

  it("returns the finished result when it is run again under the same name, and runs nothing", async () => {
    await withShop(TREE, async (shop) => {
      const first = (await shop.audit("audit")).json<RunView>();
      const events = await shop.events("audit");
      const again = await shop.audit("audit");
      expect(again.code).toBe(0);
      expect(again.json<RunView>()).toMatchObject({
        how: "finished_before",
        status: "done",
        output: first.output,
        deliverables: first.deliverables,
      });
      expect(await shop.events("audit")).toEqual(events);
      expect((await shop.audit("audit", "commit_limit=5")).code).toBe(2);
    });
  });

  it("looks closer where much is unclear, and again where not everything was looked at, and shows both", async () => {
    const noise = new Uint8Array(60_000).map((_zero, index) => (index * index * 31 + (index >> 3)) % 256);
    const tree = { ...TREE, "lib/a.bin": noise, "lib/b.bin": noise.toReversed(), "lib/tool.node": noise.slice(7) };
    await withShop(tree, async (shop) => {
      const { code } = await shop.audit("audit", "first_pass_files=2");
      expect([0, 3]).toContain(code);
      const view = await shop.show("audit");
      expect(view.decisions.map(({ type }) => type)).toEqual(expect.arrayContaining(["iterate", "spawn_specialist"]));
      expect(view.steps.map(({ step }) => step)).toEqual(
        expect.arrayContaining(["main/measure/duplicates@1.2", "main/measure/closer-look@1.1"]),
      );
      expect(view.phases[0]).toMatchObject({ name: "measure", iteration: 2 });
      const markdown = (await shop.read("audit", "report.md")).toString();
      expect(markdown).toMatch(/main\/measure \| 1 \| iterate \|/);
      expect(markdown).toContain("- iteration 1: coverage of duplicates is");
      expect(markdown).toContain("`spawn_specialist` phase measure: one more specialist on the named uncertainties");
      expect(markdown).toContain("lib/tool.node");
    });
  });

  it("[first-use F8 kin] says of an empty folder that nothing is there and ends below its confidence, and of none that there is none", async () => {
    await withShop({}, async (shop) => {
      const missing = await shop.audit("missing");
      expect(missing.code).toBe(4);
      expect(missing.json<RunView>().reason).toContain("shop");
      await mkdir(shop.audited);
      const { code, json } = await shop.audit("empty");
      expect({ code, status: json<RunView>().status }).toEqual({ code: 3, status: "partial" });
      const markdown = (await shop.read("empty", "report.md")).toString();
      expect(markdown).toContain("0 files, 0 B · no source code");
      expect(markdown).toContain("1. **medium** · The folder is empty: there is nothing to audit.");
    });
  });
});
