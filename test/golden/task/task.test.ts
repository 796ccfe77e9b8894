/**
 * Whole tasks of every format there was, with fixed keys: journal, snapshots, keyring, control files and audit
 * trail are read for ever, and tell the same. Files are only added; before a first release the newest may be made anew.
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { makeGoldenFiles, readGoldenFiles, type GoldenFiles } from "./golden-task.js";

interface Golden {
  readonly files: GoldenFiles;
  readonly hash: string;
}

const GOLDEN = ["task-1.0.json.gz"] as const;

function load(name: string): Golden {
  return JSON.parse(gunzipSync(readFileSync(new URL(name, import.meta.url))).toString("utf8")) as Golden;
}

describe("golden tasks", () => {
  it.each(GOLDEN)("of %s tell what they told when they were made", async (name) => {
    const { files, hash } = load(name);
    const paths = Object.keys(files);
    for (const kind of ["journal/", "/keyring-", "/checkpoint_", "control/answer-", "control/pin-", "audit/"])
      expect(paths.some((path) => path.includes(kind))).toBe(true);
    expect((await readGoldenFiles(files)).hash).toBe(hash);
  });

  it("of the newest format stand as one that is made today", async () => {
    const { files } = load(GOLDEN[GOLDEN.length - 1] ?? "");
    const today = await readGoldenFiles(await makeGoldenFiles());
    expect(today.picture).toBe((await readGoldenFiles(files)).picture);
  });
});
