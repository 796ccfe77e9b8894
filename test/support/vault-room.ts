/** What a vault needs of the world, faked, with a key file that is there. */
import { formatKeyFile } from "../../src/vault/key-file.js";
import type { KeyPorts, KeySourceSetting, PassphraseDeriver, ScryptCost } from "../../src/vault/key-source.js";
import type { KeyringTrust } from "../../src/vault/unlocking.js";
import { createTaskVault, openTaskVault } from "../../src/vault/task-vault.js";
import type { TaskVault } from "../../src/vault/contract.js";
import { FakeClock } from "./fake-clock.js";
import { MemoryFileSystem } from "./memory-file-system.js";
import { MemoryKeyringObjects } from "./memory-keyring-objects.js";
import { createSeededRandom } from "./seeded-random.js";

export const TASK_ID = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
export const OTHER_TASK_ID = "0b0a3f2c-5d7e-4f10-8a9b-1c2d3e4f5a6b";
export const KEY_PATH = "/home/ada/keys/default.key";
export const KEY_SOURCE: KeySourceSetting = { kind: "keyfile", path: KEY_PATH };
/** Cheap enough for tests; the real cost is judged apart. */
export const TEST_SCRYPT: ScryptCost = { log2n: 4, r: 1, p: 1 };

export interface VaultRoom {
  readonly store: MemoryKeyringObjects;
  readonly fileSystem: MemoryFileSystem;
  readonly secrets: Map<string, string>;
  readonly ports: KeyPorts;
  readonly warnings: string[];
  /** What this machine knows of the task that was made here: as what `open` is given where nothing is said. */
  readonly trust: () => KeyringTrust;
  readonly create: (sources?: readonly KeySourceSetting[], taskId?: string) => Promise<TaskVault>;
  readonly open: (
    sources?: readonly KeySourceSetting[],
    extra?: { taskId?: string | undefined; allowPlain?: boolean; trust?: KeyringTrust },
  ) => Promise<TaskVault>;
}

export interface VaultRoomOptions {
  readonly seed?: number | string;
  readonly runCommand?: KeyPorts["runCommand"];
  readonly loadAge?: KeyPorts["loadAge"];
  readonly readSystemSecret?: KeyPorts["readSystemSecret"];
  readonly derive?: PassphraseDeriver;
}

export function createVaultRoom({ seed = 1, ...packages }: VaultRoomOptions = {}): VaultRoom {
  const random = createSeededRandom(seed);
  const fileSystem = new MemoryFileSystem("/home/ada", "/work/outputs");
  fileSystem.addFile(KEY_PATH, formatKeyFile(random.bytes(32)));
  const store = new MemoryKeyringObjects();
  const secrets = new Map<string, string>();
  const warnings: string[] = [];
  const log = { info: () => undefined, debug: () => undefined, warn: (text: string) => void warnings.push(text) };
  const ports: KeyPorts = { fileSystem, readSecret: (name) => secrets.get(name), ...packages };
  const shared = { store, ports, random, log };
  let firstKey: string | undefined;
  const trust = (): KeyringTrust => ({ firstKey });
  return {
    store,
    fileSystem,
    secrets,
    ports,
    warnings,
    trust,
    create: async (sources = [KEY_SOURCE], taskId = TASK_ID) => {
      const clock = new FakeClock();
      const vault = await createTaskVault({ ...shared, taskId, sources, clock, scryptCost: TEST_SCRYPT });
      firstKey = vault.keyring?.firstKey;
      return vault;
    },
    open: (sources = [KEY_SOURCE], extra = {}) =>
      openTaskVault({ ...shared, taskId: TASK_ID, sources, trust: trust(), ...extra }),
  };
}
