/** What stands in a task's place, by path, whether it is a folder or rows: as somebody beside us reads and changes it. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openSqlite } from "../../src/store/sql/sqlite-database.js";
import { realClock } from "./real-clock.js";
import { filesOfRows, readRows, withFile, writeRows, type Files, type Row } from "./task-rows.js";

export type ContentKind = "file" | "sqlite";

export interface TaskContent {
  /** Address of the store, from the working folder. */
  readonly store: string;
  files(): Promise<Files>;
  /** Whole files by path; `undefined` takes one away. */
  change(changes: Iterable<readonly [string, Uint8Array | undefined]>): Promise<void>;
}

/** Of the task, which is the only one in a database. */
export function openContent(kind: ContentKind, root: string, task: string): TaskContent {
  return kind === "file" ? openFolder(join(root, "outputs", task, "checkpoints")) : openRows(join(root, "tasks.db"));
}

function openFolder(folder: string): TaskContent {
  return {
    store: "file:outputs",
    files: async () => {
      const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
      const files = paths.filter((path) => statSync(join(folder, path)).isFile());
      return new Map(files.map((path) => [path, readFileSync(join(folder, path))]));
    },
    change: async (changes) => {
      for (const [path, bytes] of changes) {
        const file = join(folder, path);
        if (bytes === undefined) rmSync(file);
        else {
          mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
          writeFileSync(file, bytes, { mode: 0o600 });
        }
      }
    },
  };
}

function openRows(path: string): TaskContent {
  const edit = async (work: (rows: readonly Row[]) => readonly Row[]): Promise<readonly Row[]> => {
    const database = await openSqlite({ path, clock: realClock });
    try {
      const before = await readRows(database);
      const after = work(before);
      if (after !== before && !(await writeRows(database, after))) throw new Error("the database takes no such rows");
      return after;
    } finally {
      await database.close();
    }
  };
  return {
    store: "sqlite:tasks.db",
    files: async () => filesOfRows(await edit((rows) => rows)),
    change: async (changes) => {
      await edit((rows) => {
        let changed = rows;
        for (const [file, bytes] of changes) changed = withFile(changed, file, bytes && Buffer.from(bytes));
        return changed;
      });
    },
  };
}

/** Of the files whose path begins so. */
export async function filesBelow(content: TaskContent, prefix: string): Promise<Files> {
  return new Map([...(await content.files())].filter(([path]) => path.startsWith(prefix)));
}

/** No file whose path begins so. */
export async function removeBelow(content: TaskContent, prefix: string): Promise<void> {
  await content.change([...(await filesBelow(content, prefix)).keys()].map((path) => [path, undefined] as const));
}
