/** What a stranger learns by asking: version, help, and what a mistyped line answers. */
import { mkdtempSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { PROGRAM, PROJECT_FOLDER } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

interface Coverage {
  readonly result: readonly { readonly url: string }[];
}

/** The modules that a file of dist/ was made of, as esbuild writes them above each; the file itself where there are none. */
function modulesOf(path: string): string[] {
  if (!path.startsWith("dist/")) return [path];
  const text = readFileSync(join(PROJECT_FOLDER, path), "utf8");
  return [path, ...[...text.matchAll(/^\/\/ src\/(.+)\.[jt]s$/gm)].map(([, module]) => `dist/${module ?? ""}.js`)];
}

/** The modules that a call of the program loaded, below the project; packages may lie elsewhere. */
async function listLoaded(place: CommandPlace, args: readonly string[]): Promise<string[]> {
  const coverage = mkdtempSync(join(place.folder, "coverage-"));
  const { code, stderr } = await place.run(args, { env: { NODE_V8_COVERAGE: coverage } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const project = pathToFileURL(realpathSync(PROJECT_FOLDER)).href;
  return readdirSync(coverage)
    .flatMap((file) => (JSON.parse(readFileSync(join(coverage, file), "utf8")) as Coverage).result)
    .filter(({ url }) => url.startsWith("file:"))
    .map(({ url }) => url.slice((url.includes("/node_modules/") ? url.indexOf("/node_modules/") : project.length) + 1))
    .flatMap(modulesOf)
    .filter((path) => !path.startsWith("dist/chunks/"));
}

/** What it names, beside their groups. */
const VERBS =
  "run resume recover list show events answer checkpoint pause stop checkpoints debug keys validate doctor config".split(
    " ",
  );

describe("splashdown without a task", () => {
  it("prints its version on stdout and nothing else", async () => {
    const { code, stdout, stderr } = await openPlace().run(["--version"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("explains itself, its streams and its statuses with --help", async () => {
    const { code, stdout, stderr } = await openPlace().run(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const verb of VERBS) expect(stdout).toContain(verb);
    expect(stdout).toContain("Begin with:\n  splashdown run workflow.yaml");
    for (const status of [1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 20, 21, 22, 75, 129, 130, 143])
      expect(stdout).toMatch(new RegExp(`Exit status: [\\s\\S]*\\b${status}\\b`));
  });

  it("prints its help on stderr and ends with 2 when it is asked nothing", async () => {
    const { code, stdout, stderr } = await openPlace().run([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Begin with:");
    expect(stderr).not.toContain("USAGE_INVALID");
  });

  it("loads nothing for --help but commander and its own verbs, so that it starts as fast as it can", async () => {
    const loaded = await listLoaded(openPlace(), ["--help"]);
    expect(loaded).toContain("dist/cli/main.js");
    const own =
      /^node_modules\/commander\/|^dist\/(?:cli|base)\/|^dist\/runtime\/platform\/(?:environment|heap-bounds|system-clock)\.js$|^dist\/process\/initial-environment\.js$/;
    expect(loaded.filter((path) => !own.test(path))).toEqual([]);
  });
});

/** Verbs that read, each with the file that does its work. */
const READING = {
  list: "dist/runtime/tasks/summaries.js",
  "show t": "dist/runtime/tasks/reading.js",
  "debug list-checkpoints --task t": "dist/runtime/verbs/inspection.js",
};

describe("a verb that reads", () => {
  it("loads no package, and nothing that runs a workflow or reads its file", async () => {
    const place = openPlace();
    const workflow = { workflow: { name: "w" }, steps: [{ name: "a", type: "set", value: 1 }] };
    await place.run(["run", place.write("w.json", JSON.stringify(workflow)), "--task", "t"]);
    const foreign = /^node_modules\/(?!commander\/)/;
    const working =
      /^dist\/(?:agents\/|engine\/(?:decide\.|runner\/)|definition\/(?:templates|build\/step|files\/loader)|runtime\/run\/(?!program-functions\.))/;
    for (const [line, itsOwn] of Object.entries(READING)) {
      const loaded = await listLoaded(place, line.split(" "));
      expect(loaded).toContain(itsOwn);
      expect(loaded.filter((path) => foreign.test(path) || working.test(path))).toEqual([]);
    }
  });
});

describe("a mistyped command line", () => {
  it.each([
    [["rnu"], "unknown command 'rnu'; did you mean run?", "splashdown --help"],
    [["run", "x.yaml", "--inptu", "a=1"], "unknown option '--inptu'; did you mean --input?", "splashdown run --help"],
    [["list", "--jsn"], "unknown option '--jsn'; did you mean --json?", "splashdown list --help"],
    [["run"], "give a workflow file or --goal TEXT, one of the two", "splashdown run --help"],
    [
      ["recover", "extra"],
      "too many arguments for 'recover'. Expected 0 arguments but got 1.",
      "splashdown recover --help",
    ],
    [
      ["debug", "replay"],
      "required option '--checkpoint <checkpoint>' not specified",
      "splashdown debug replay --help",
    ],
    [
      ["events", "t", "--from", "x"],
      '--from takes the number of an event, from 1, not "x"',
      "splashdown events --help",
    ],
  ])("%j ends with 2, one line, and the help to ask for", async (args, message, hint) => {
    const { code, stdout, stderr } = await openPlace().run(args);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: "",
      stderr: `splashdown: ${message} [USAGE_INVALID]\n  → ${hint}\n`,
    });
  });

  it("is one JSON line on stderr with --json", async () => {
    const { code, stdout, stderr } = await openPlace().run(["show", "--json"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: "USAGE_INVALID",
        message: "missing required argument 'task'",
        hint: "splashdown show --help",
        retryable: false,
        details: { verb: "show" },
      },
    });
  });
});

function startAs(version: string, words: readonly string[]): ReturnType<CommandPlace["run"]> {
  const place = openPlace();
  const fake = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`;
  const program = process.execPath;
  return place.run(["--require", place.write("version.cjs", fake), PROGRAM, ...words], { program });
}

describe("a Node that is too old", () => {
  it.each(["18.20.8", "20.18.3", "12.22.12"])("[first-use F7] is told so in one sentence (%s)", async (version) => {
    const { code, stdout, stderr } = await startAs(version, ["list"]);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: "",
      stderr: `splashdown: needs Node 20.19 or newer; this is ${version}\n`,
    });
  });

  it.each(["20.19.0", "22.0.0"])("[first-use F7 kin] is none that goes (%s)", async (version) => {
    expect(await startAs(version, ["--version"])).toMatchObject({ code: 0, stderr: "" });
  });

  it("[first-use F7 kin] reads the first file without trouble: it imports nothing, and has no newer words", () => {
    const text = readFileSync(PROGRAM, "utf8").replaceAll(/^\/\/.*$|\/\*[\s\S]*?\*\//gm, "");
    expect(text).not.toMatch(/^import\b|\?\.|\?\?|\bawait\b|#\w+\(|static \{|_\d/m);
    expect(text).toContain('import("');
  });

  it("[first-use F7 kin] names the version that package.json asks for", () => {
    const { engines } = JSON.parse(readFileSync(join(PROJECT_FOLDER, "package.json"), "utf8")) as {
      engines: { node: string };
    };
    expect(readFileSync(PROGRAM, "utf8")).toContain(`needs Node`);
    expect(readFileSync(PROGRAM, "utf8")).toContain(engines.node.replace(">=", ""));
  });
});
