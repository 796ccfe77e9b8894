import { describe, expect, it } from "vitest";
import {
  acknowledgeKey,
  computeDefaultKeyPath,
  ensureDefaultKeyFile,
  isKeyAcknowledged,
  type DefaultKeyOptions,
} from "../../../src/vault/default-key.js";
import { formatKeyFile, loadKeyFile } from "../../../src/vault/key-file.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { MemoryFileSystem, type Volume } from "../../support/memory-file-system.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";

const CONFIG = "/home/ada/.config/splashdown";
const PATH = computeDefaultKeyPath(CONFIG);
const TMPFS: Volume = { type: 0x01021994, volatile: true, network: false };
const OVERLAY: Volume = { type: 0x794c7630, volatile: false, network: false };

function createFileSystem(volumes: Readonly<Record<string, Volume>> = {}): MemoryFileSystem {
  const fileSystem = new MemoryFileSystem("/home/ada", "/work/project/outputs");
  for (const [folder, volume] of Object.entries(volumes)) fileSystem.volumes.set(folder, volume);
  return fileSystem;
}

function optionsFor(fileSystem: MemoryFileSystem, overrides: Partial<DefaultKeyOptions> = {}): DefaultKeyOptions {
  return {
    fileSystem,
    configFolder: CONFIG,
    storeFolder: "/work/project/outputs",
    projectFolder: "/work/project",
    hasForeignSealedData: async () => false,
    random: createSeededRandom(1),
    ...overrides,
  };
}

describe("ensureDefaultKeyFile", () => {
  it("makes a key the first time and gives the same one afterwards", async () => {
    const fileSystem = createFileSystem();
    const first = await ensureDefaultKeyFile(optionsFor(fileSystem));
    expect(first).toEqual({ path: PATH, fingerprint: first.fingerprint, created: true });
    expect(first.fingerprint).toMatch(/^[0-9a-f]{16}$/);
    const second = await ensureDefaultKeyFile(optionsFor(fileSystem, { random: createSeededRandom(2) }));
    expect(second).toEqual({ ...first, created: false });
    expect((await loadKeyFile(fileSystem, PATH))?.fingerprint).toBe(first.fingerprint);
  });

  it("takes the key of another process that was faster", async () => {
    const fileSystem = createFileSystem();
    const theirs = formatKeyFile(Buffer.alloc(32, 1));
    fileSystem.fault = (operation) => {
      if (operation === `link ${PATH}`) fileSystem.addFile(PATH, theirs);
      return undefined;
    };
    const key = await ensureDefaultKeyFile(optionsFor(fileSystem));
    expect(key.created).toBe(false);
    expect(fileSystem.text(PATH)).toBe(theirs);
  });

  it("loses no key that another process made and died, wherever that was", async () => {
    const ensure = (fileSystem: FaultyFileSystem, seed: number) =>
      ensureDefaultKeyFile({
        fileSystem,
        configFolder: "/config/splashdown",
        hasForeignSealedData: async () => false,
        random: createSeededRandom(seed),
      });
    const first = new FaultyFileSystem();
    await ensure(first, 1);
    const found = [];
    for (let k = 0; k <= first.operationCount; k += 1) {
      const second = new FaultyFileSystem({ disk: first.imageAt(k, { kind: "kill" }) });
      const { created, fingerprint, path } = await ensure(second, 2);
      found.push(created);
      for (let seed = 0; seed < 8; seed += 1) {
        const after = new ModelFileSystem(second.imageAt(second.operationCount, { kind: "power", seed }));
        expect((await loadKeyFile(after, path))?.fingerprint).toBe(fingerprint);
      }
    }
    expect(new Set(found)).toEqual(new Set([true, false]));
  });

  it("uses no key that cannot be made durable", async () => {
    const fileSystem = createFileSystem();
    await ensureDefaultKeyFile(optionsFor(fileSystem));
    fileSystem.fault = (operation) => (operation.startsWith("syncFolder") ? "EIO" : undefined);
    const error = await refusalOf(() => ensureDefaultKeyFile(optionsFor(fileSystem)));
    expect([error.code, error.message]).toEqual(["KEY_NOT_CREATED", expect.stringContaining("(EIO)")]);
    fileSystem.fault = (operation) => (operation === "syncFolder /home" ? "EACCES" : undefined);
    expect((await ensureDefaultKeyFile(optionsFor(fileSystem))).created).toBe(false);
  });

  it("V14: names the first place that lasts as long as the store, or its own where none does", async () => {
    const commandsWith = async (keptFolders: readonly string[]): Promise<string> => {
      const fileSystem = createFileSystem({ "/home": TMPFS, "/run": TMPFS });
      fileSystem.addFolder("/run");
      fileSystem.addFolder("/srv");
      const refusal = await refusalOf(() => ensureDefaultKeyFile(optionsFor(fileSystem, { keptFolders })));
      expect(refusal.code).toBe("KEY_NOT_CREATED");
      return JSON.stringify(refusal.details?.["commands"]);
    };
    expect(await commandsWith(["/run", "/srv", "/"])).toContain("/srv/splashdown.key");
    expect(await commandsWith(["/run"])).toContain(PATH);
    expect(await commandsWith([])).toContain(PATH);
  });

  it("V14: gives the present key even where none would be made, so that its data opens, and looks at no task for it", async () => {
    const fileSystem = createFileSystem({ "/home": TMPFS });
    fileSystem.addFile(PATH, formatKeyFile(Buffer.alloc(32, 1)));
    const hasForeignSealedData = () => Promise.reject(new Error("every task was looked at"));
    expect((await ensureDefaultKeyFile(optionsFor(fileSystem, { hasForeignSealedData }))).created).toBe(false);
  });

  it.each<[string, Partial<DefaultKeyOptions>, Readonly<Record<string, Volume>>, string]>([
    [
      "sealed data of another key is present",
      { hasForeignSealedData: async () => true },
      {},
      "sealed data of another key is present",
    ],
    [
      "it would be in memory, the store on disk",
      {},
      { "/home": TMPFS },
      "its file system is more volatile than the store's",
    ],
    [
      "it would be in a container's layer, the store on disk",
      {},
      { "/": OVERLAY, "/work": { type: 1, volatile: false, network: false } },
      "its file system is more volatile",
    ],
    [
      "it would be in memory, the store in a container's layer",
      {},
      { "/": OVERLAY, "/home": TMPFS },
      "its file system is more volatile",
    ],
    [
      "it would lie in the outputs tree",
      { configFolder: "/work/project/outputs/config" },
      {},
      "it would lie inside the outputs tree",
    ],
    [
      "it would lie in a folder of the outputs tree with an odd name",
      { configFolder: "/work/project/outputs/..keys" },
      {},
      "it would lie inside the outputs tree",
    ],
    ["it would lie in the project", { configFolder: "/work/project/.config" }, {}, "it would lie inside the project"],
  ])("V14: makes none when %s, with two commands that fix it", async (_name, overrides, volumes, reason) => {
    const fileSystem = createFileSystem(volumes);
    const error = await refusalOf(() => ensureDefaultKeyFile(optionsFor(fileSystem, overrides)));
    expect(error.code).toBe("KEY_NOT_CREATED");
    expect(error.exitStatus).toBe(12);
    expect(error.message).toContain(reason);
    expect(error.details["commands"]).toHaveLength(2);
    expect(error.hint).toContain("splashdown keys init --key-file /");
    expect(fileSystem.paths()).toEqual([]);
    expect(fileSystem.operations.filter((operation) => /^(mkdir|open:create)/.test(operation))).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, Volume>>]>([
    ["both in memory", { "/": TMPFS }],
    ["both in a container's layer", { "/": OVERLAY }],
    ["the store in memory", { "/work": TMPFS }],
  ])("makes one with %s", async (_name, volumes) => {
    expect((await ensureDefaultKeyFile(optionsFor(createFileSystem(volumes)))).created).toBe(true);
  });

  it("makes one for a store that is no folder, and beside a project whose name only begins alike", async () => {
    expect((await ensureDefaultKeyFile(optionsFor(createFileSystem(), { storeFolder: undefined }))).created).toBe(true);
    const beside = { configFolder: "/work/project-keys", projectFolder: "/work/project" };
    expect((await ensureDefaultKeyFile(optionsFor(createFileSystem(), beside))).created).toBe(true);
  });

  it("is refused where the place cannot be written, and where a damaged key stands", async () => {
    const readOnly = createFileSystem();
    readOnly.fault = (operation) => (operation.startsWith("mkdir") ? "EROFS" : undefined);
    const error = await refusalOf(() => ensureDefaultKeyFile(optionsFor(readOnly)));
    expect([error.code, error.details["reason"]]).toEqual(["KEY_NOT_CREATED", "EROFS"]);
    const damaged = createFileSystem();
    damaged.addFile(PATH, "splashdown-key/1\n");
    expect(await codeOfAsync(() => ensureDefaultKeyFile(optionsFor(damaged)))).toBe("KEY_SOURCE_INVALID");
    expect(damaged.text(PATH)).toBe("splashdown-key/1\n");
  });

  it("says so when the other's key is gone again", async () => {
    const fileSystem = createFileSystem();
    fileSystem.fault = (operation) => (operation === `link ${PATH}` ? "EEXIST" : undefined);
    expect((await refusalOf(() => ensureDefaultKeyFile(optionsFor(fileSystem)))).message).toContain("is gone again");
  });

  it("makes no key where it cannot be told how lasting the volume is", async () => {
    const fileSystem = createFileSystem();
    fileSystem.volumeOf = () => Promise.reject(Object.assign(new Error("EIO"), { code: "EIO" }));
    expect(await codeOfAsync(() => ensureDefaultKeyFile(optionsFor(fileSystem)))).toBe("KEY_NOT_CREATED");
  });
});

describe("acknowledgeKey", () => {
  it("is remembered for this very key only", async () => {
    const fileSystem = createFileSystem();
    const key = await ensureDefaultKeyFile(optionsFor(fileSystem));
    expect(await isKeyAcknowledged(fileSystem, key)).toBe(false);
    expect(await acknowledgeKey(fileSystem, PATH)).toEqual({ path: PATH, fingerprint: key.fingerprint });
    expect(await isKeyAcknowledged(fileSystem, key)).toBe(true);
    fileSystem.addFile(PATH, formatKeyFile(Buffer.alloc(32, 1)));
    const other = await ensureDefaultKeyFile(optionsFor(fileSystem));
    expect(await isKeyAcknowledged(fileSystem, other)).toBe(false);
    await acknowledgeKey(fileSystem, PATH);
    expect(await isKeyAcknowledged(fileSystem, other)).toBe(true);
    const count = fileSystem.operations.length;
    await acknowledgeKey(fileSystem, PATH);
    expect(fileSystem.operations.slice(count).some((operation) => operation.startsWith("write"))).toBe(false);
  });

  it("needs a key file, and says when the marker cannot be written", async () => {
    const fileSystem = createFileSystem();
    expect(await codeOfAsync(() => acknowledgeKey(fileSystem, PATH))).toBe("KEY_SOURCE_INVALID");
    await ensureDefaultKeyFile(optionsFor(fileSystem));
    for (const failing of ["open:create", "unlink"]) {
      fileSystem.fault = (operation) => (operation.startsWith(failing) ? "EROFS" : undefined);
      const error = await refusalOf(() => acknowledgeKey(fileSystem, PATH));
      expect([error.code, error.details["reason"]]).toEqual(["KEY_NOT_CREATED", "EROFS"]);
    }
  });
});
