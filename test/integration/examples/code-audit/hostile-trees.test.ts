import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, openSync, symlinkSync, truncateSync, closeSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { formatPath, parsePath } from "../../../../examples/code-audit/lib/byte-paths.mjs";
import {
  createFolder,
  createTree,
  type Json,
  measureAll,
  outputsOf,
  PROGRAM,
  runRaw,
  runSpecialist,
} from "../../../unit/examples/code-audit/audit-tools.js";

const MAKE_FIFO = "mkfifo";
const rootOnly = process.getuid?.() === 0;

describe("names", () => {
  it("P1, P2: a shown path is harmless and leads back to the same bytes", () => {
    for (const path of [
      "a\nb",
      "\u001b[31m",
      "\\x41",
      "\\u{41}",
      "\u00ff\u00fe",
      "h\u00c3\u00a9",
      "a\u00e2\u0080\u00aeb",
      "a|b`c",
      "\\",
    ]) {
      const shown = formatPath(path);
      expect(parsePath(shown)).toBe(path);
      expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
    }
  });

  it("survive every tool and the report, whatever bytes they are made of", () => {
    const folder = createTree({ "plain.js": "let a;\n" });
    for (const name of ["new\nline.js", "esc\u001b[2J.js", "pipe|`tick`.js", "-rf.js", "\u202egpj.js"]) {
      writeFileSync(join(folder, name), "// TODO: here\nlet b;\n");
    }
    writeFileSync(
      Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x62, 0xff, 0xfe, 0x2e, 0x6a, 0x73])]),
      "let c;\n",
    );
    const answers = measureAll(folder);
    const outputs = outputsOf(answers);
    expect(outputs["inventory"].totals).toMatchObject({ files: 7, lines: 12 });
    const paths = outputs["inventory"].largest_files.map(({ path }: Json) => path);
    expect(paths).toContain("new\\u{a}line.js");
    expect(paths).toContain("b\\xff\\xfe.js");
    const report = JSON.parse(runRaw("report", { inputs: { folder }, outputs }));
    expect(report.output.markdown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(runSpecialist("score-evidence", folder, { outputs })).toMatchObject({ score: 100, issues: [] });
    expect(runSpecialist("score-completeness", folder, { outputs })).toMatchObject({ score: 100, issues: [] });
  });
});

describe("hostile trees", () => {
  it("W2: links are not followed, FIFOs and sockets not opened", async () => {
    const folder = createTree({ "a.js": "let a;\n" });
    symlinkSync(".", join(folder, "loop"));
    symlinkSync("/etc/passwd", join(folder, "outside"));
    symlinkSync("nowhere", join(folder, "dangling"));
    expect(spawnSync(MAKE_FIFO, [join(folder, "fifo")]).status).toBe(0);
    // By its folder's descriptor: the path of a temporary folder may be longer than a socket's name may be.
    const place = openSync(folder, "r");
    const near = process.platform === "linux" ? `/proc/self/fd/${place}` : folder;
    const server = createServer().listen(join(near, "sock"));
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => closeSync(place));
    try {
      const { output } = runSpecialist("inventory", folder);
      expect(output.totals.files).toBe(1);
      expect(output.walked.symlinks.items).toEqual(["dangling", "loop", "outside"]);
      expect(output.walked.special.items).toEqual([
        { path: "fifo", type: "fifo" },
        { path: "sock", type: "socket" },
      ]);
      for (const tool of ["secrets", "duplicates", "hotspots", "dependencies"]) runSpecialist(tool, folder);
    } finally {
      server.close();
    }
  });

  it("W3: huge, deep and damaged things are listed and end nothing", () => {
    const folder = createTree({ "a.js": "let a;\n", "package.json": "{oops", "x/package.json": "[]" });
    closeSync(openSync(join(folder, "sparse.bin"), "w"));
    truncateSync(join(folder, "sparse.bin"), 50 * 1024 ** 3);
    const deep = join(folder, ...Array.from({ length: 15 }, () => "d".repeat(200)));
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, "e.js"), "let e;\n");
    const answers = measureAll(folder);
    const { inventory, dependencies } = outputsOf(answers);
    expect(inventory.totals.files).toBe(5);
    expect(inventory.set_apart.binary).toMatchObject({ files: 1, bytes: 50 * 1024 ** 3 });
    expect(dependencies.unparsable.items.map(({ path }: Json) => path)).toEqual(["package.json", "x/package.json"]);
    expect(answers["dependencies"]?.uncertainties).toMatchObject([{ kind: "unparsable_manifest", files: 2 }]);
    for (const answer of Object.values(answers))
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(200_000);
  });

  it.runIf(rootOnly)("W3: what may not be read is listed, counted and lowers confidence", () => {
    const folder = createTree({ "a.js": "let a;\n", "secret/b.js": "let b;\n", "c.js": "let c;\n" });
    chmodSync(join(folder, "secret"), 0);
    chmodSync(join(folder, "c.js"), 0);
    chmodSync(folder, 0o755);
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM, "inventory"], {
      input: JSON.stringify({ input: { folder } }),
      encoding: "utf8",
      cwd: "/",
      uid: 65_534,
      gid: 65_534,
    });
    expect(status).toBe(0);
    const { output, confidence, uncertainties } = JSON.parse(stdout);
    expect(output.totals.files).toBe(2);
    expect(output.classes.unreadable.files).toBe(1);
    expect(output.walked.unreadable_folders.items).toEqual([
      { path: "secret", reason: "folder cannot be read: EACCES" },
    ]);
    expect(confidence.implementation).toBe(0.3333);
    expect(uncertainties.map(({ kind }: Json) => kind)).toEqual(["unreadable", "unreadable_folder"]);
  });

  it("keeps an answer below its limit however long the names are", () => {
    const folder = createFolder();
    const deep = join(folder, ...Array.from({ length: 12 }, () => "n".repeat(250)));
    mkdirSync(deep, { recursive: true });
    for (let at = 0; at < 90; at++) {
      writeFileSync(join(deep, `${at}.so`), Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, at]));
      writeFileSync(join(deep, `${at}.js`), "// TODO: a\nfunction f() {}\n");
    }
    const answers = measureAll(folder);
    for (const answer of Object.values(answers))
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(200_000);
    expect(answers["inventory"]?.output.set_apart.binary).toMatchObject({ files: 90 });
    const { items, cut } = answers["inventory"]?.output.set_apart.binary ?? {};
    expect(items.length + cut).toBe(90);
  });

  it("says in one line that a folder is missing, and ends with 1", () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, "inventory"], {
      input: '{"input":{"folder":"/nowhere/at/all"}}',
      encoding: "utf8",
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});
