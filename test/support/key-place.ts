/** A machine of a test's own: folders for work, settings and state, and whoever opens Splashdown there. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { FileSystem } from "../../src/base/file-system.js";
import { formatKeyFile } from "../../src/vault/key-file.js";
import type { Splashdown } from "../../src/runtime/contract.js";
import { createEnvironment } from "../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../src/runtime/open.js";
import { filesBelow, openContent, removeBelow, type ContentKind, type TaskContent } from "./task-content.js";
import type { Files } from "./task-rows.js";

export type Variables = Readonly<Record<string, string>>;

export interface Opening {
  readonly store?: string;
  readonly fileSystem?: FileSystem;
}

export class KeyPlace {
  readonly folder: string;
  readonly workflow: string;

  readonly #kind: ContentKind;

  constructor(folder = mkdtempSync(join(tmpdir(), "splashdown-keys-")), kind: ContentKind = "file") {
    this.folder = folder;
    this.#kind = kind;
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    this.workflow = this.write(
      "asking.yaml",
      `workflow: {name: asking, entry_point: a}
agents:
  - {name: a, type: set, value: 7, routes: [{to: gate}]}
  - {name: gate, type: human_gate, prompt: continue?, options: [{label: Y, value: "yes", route: $end}]}
`,
    );
  }

  path(...parts: readonly string[]): string {
    return join(this.folder, ...parts);
  }

  write(name: string, text: string | Uint8Array): string {
    const path = this.path(name);
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** A key file, from one byte. */
  key(name: string, byte: number): string {
    return this.write(name, formatKeyFile(Buffer.alloc(32, byte)));
  }

  /** In files, or in a database that has nothing else. */
  static of(kind: ContentKind): KeyPlace {
    return new KeyPlace(undefined, kind);
  }

  /** What stands in a task's place. */
  content(task: string): TaskContent {
    return openContent(this.#kind, this.folder, task);
  }

  async open(variables: Variables = {}, opening: Opening = {}): Promise<Splashdown> {
    const { store = this.content("any").store, fileSystem } = opening;
    const all = {
      PATH: process.env["PATH"] ?? "",
      HOME: this.path("home"),
      USER: "ada",
      SPLASHDOWN_CONFIG_DIR: this.path("config"),
      SPLASHDOWN_STATE_DIR: this.path("state"),
      SPLASHDOWN_TRUST: "1",
      ...variables,
    };
    const environment = createEnvironment(all, this.folder);
    return openSplashdown({ store, environment, ...(fileSystem === undefined ? {} : { fileSystem }) });
  }

  /** Opens, acts and closes. */
  async with<T>(variables: Variables, act: (verbs: Splashdown) => Promise<T>, opening?: Opening): Promise<T> {
    const verbs = await this.open(variables, opening);
    try {
      return await act(verbs);
    } finally {
      await verbs.close();
    }
  }

  /** Files of a task's keyring by name. */
  keyrings(task: string): Promise<Files> {
    return filesBelow(this.content(task), "keyring-");
  }

  /** Puts keyring files back, and no other ones stay. */
  async putBack(task: string, files: Files): Promise<void> {
    const content = this.content(task);
    await removeBelow(content, "keyring-");
    await content.change(files);
  }

  /** The same tasks on a machine that has never seen them. */
  elsewhere(): KeyPlace {
    const other = KeyPlace.of(this.#kind);
    for (const name of readdirSync(this.folder))
      if (name === "outputs" || name.startsWith("tasks.db"))
        cpSync(this.path(name), other.path(name), { recursive: true });
    return other;
  }
}
