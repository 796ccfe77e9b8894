import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTree, git, runSpecialist, writeInto } from "./audit-tools.js";

function commit(folder: string, author: string): void {
  git(folder, "add", "-A");
  const identity = ["-c", `user.name=${author}`, "-c", "user.email=a@example.org"];
  git(folder, ...identity, "commit", "-q", "--no-verify", "-m", "change", "--date", "2020-01-02T00:00:00Z");
}

function createRepository(): string {
  const folder = createTree({ "hot.js": "if (a) {}\nif (b) {}\n", "cold.js": "let a;\n", "sub/x.md": "x\n" });
  git(folder, "init", "-q", "-b", "main");
  commit(folder, "Ada");
  for (const text of ["1", "2"]) {
    writeInto(folder, "hot.js", `if (a) {}\nif (b) {}\nlet z = ${text};\n`);
    commit(folder, "Bob");
  }
  rmSync(join(folder, "cold.js"));
  commit(folder, "Ada");
  return folder;
}

describe("churn", () => {
  it("counts commits per file and author, and weighs them with complexity", () => {
    const { output, confidence } = runSpecialist("churn", createRepository());
    expect(output.commits).toMatchObject({ read: 4, touching_folder: 4, is_shallow: false });
    expect(output.authors.items).toEqual([
      { author: "Ada", commits: 2 },
      { author: "Bob", commits: 2 },
    ]);
    expect(output.most_changed).toEqual([
      { path: "hot.js", commits: 3, authors: 2, exists: true },
      { path: "cold.js", commits: 2, authors: 1, exists: false },
      { path: "sub/x.md", commits: 1, authors: 1, exists: true },
    ]);
    expect(output.hot).toEqual([{ path: "hot.js", commits: 3, authors: 2, branches: 2, code: 3, heat: 6 }]);
    expect(confidence).toEqual({ knowledge: 1, information: 1, implementation: 1, validation: 1 });
  });

  it("speaks of the audited folder only, and of the last commits only when asked", () => {
    const folder = createRepository();
    const inside = runSpecialist("churn", join(folder, "sub")).output;
    expect(inside.commits.read).toBe(1);
    expect(inside.most_changed).toEqual([{ path: "x.md", commits: 1, authors: 1, exists: true }]);
    const limited = runSpecialist("churn", folder, { input: { folder, commit_limit: 2 } });
    expect(limited.output.commits).toMatchObject({ read: 2, touching_folder: 4 });
    expect(limited.confidence["information"]).toBe(0.8);
  });

  it("[first-use F8 kin] goes on with the history of a file that was renamed, also when another takes its old name", () => {
    const folder = createRepository();
    const text = "if (a) {}\nif (b) {}\nlet z = 2;\n";
    rmSync(join(folder, "hot.js"));
    writeInto(folder, "src/hot.js", text);
    commit(folder, "Ada");
    writeInto(folder, "src/hot.js", `${text}let y;\n`);
    writeInto(folder, "hot.js", "another();\nfile();\n");
    commit(folder, "Eve");
    const { output } = runSpecialist("churn", folder);
    expect(output.most_changed.slice(0, 2)).toEqual([
      { path: "src/hot.js", commits: 5, authors: 3, exists: true },
      { path: "cold.js", commits: 2, authors: 1, exists: false },
    ]);
    expect(output.most_changed).toContainEqual({ path: "hot.js", commits: 1, authors: 1, exists: true });
  });

  it("says why there is no history, as an answer and not as a failure", () => {
    const plain = runSpecialist("churn", createTree({ "a.js": "" }));
    expect(plain.output).toMatchObject({ available: false, reason: expect.stringContaining("not a git repository") });
    const untracked = createRepository();
    mkdirSync(join(untracked, "node_modules"));
    expect(runSpecialist("churn", join(untracked, "node_modules")).output).toEqual({
      available: false,
      reason: "no git history: the folder lies in a repository, but no commit touches it",
    });
    const empty = createTree({ "a.js": "" });
    git(empty, "init", "-q");
    expect(runSpecialist("churn", empty).output.reason).toBe("no git history: the repository has no commit yet");
  });

  it("G2: runs nothing that the repository asks for", () => {
    const folder = createRepository();
    const mark = join(folder, "ran");
    const program = `touch ${mark} #`;
    for (const key of ["core.fsmonitor", "core.pager", "diff.external", "gpg.program", "core.sshCommand"]) {
      git(folder, "config", key, program);
    }
    git(folder, "config", "log.showSignature", "true");
    expect(runSpecialist("churn", folder).output.available).toBe(true);
    expect(existsSync(mark)).toBe(false);
  });
});
