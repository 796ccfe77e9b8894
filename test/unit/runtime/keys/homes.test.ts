/** No home, or one that is no place: the key never lies in the project. */
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { describe, expect, it } from "vitest";
import { createEnvironment } from "../../../../src/runtime/platform/environment.js";
import { ensureDefaultKeyFile } from "../../../../src/vault/default-key.js";
import { refusalOf } from "../../../support/error-code.js";
import { createSeededRandom } from "../../../support/seeded-random.js";
import { MemoryFileSystem } from "../../../support/memory-file-system.js";
import { changeFileSystem } from "../../../support/changed-file-system.js";

const PROJECT = "/work/project";

function foldersOf(all: Readonly<Record<string, string>>): string[] {
  const { homeFolder, configFolder, stateFolder } = createEnvironment({ PATH: "/bin", ...all }, PROJECT);
  return [homeFolder, configFolder, stateFolder];
}

describe("the folders of a user", () => {
  it("[public Q] are absolute and outside the project where HOME is empty", () => {
    for (const folder of foldersOf({ HOME: "" })) expect([folder, isAbsolute(folder)]).toEqual([folder, true]);
    for (const folder of foldersOf({ HOME: "" })) expect(folder.startsWith(PROJECT)).toBe(false);
    expect(existsSync(".config")).toBe(false);
  });

  it("[public Q kin] are so where HOME is relative", () => {
    for (const home of [".", "..", "home", "./x"])
      for (const folder of foldersOf({ HOME: home })) {
        expect([home, isAbsolute(folder)]).toEqual([home, true]);
        expect(folder.startsWith(PROJECT)).toBe(false);
      }
  });

  it("[public Q kin] pass over relative folders of the desktop's, and take our own from the working folder", () => {
    const [home, config, state] = foldersOf({ HOME: "/home/ada", XDG_CONFIG_HOME: "cfg", XDG_STATE_HOME: "st" });
    expect([home, config, state]).toEqual([
      "/home/ada",
      "/home/ada/.config/splashdown",
      "/home/ada/.local/state/splashdown",
    ]);
    const own = foldersOf({ HOME: "/home/ada", SPLASHDOWN_CONFIG_DIR: "cfg", SPLASHDOWN_STATE_DIR: "../st" });
    expect(own).toEqual(["/home/ada", `${PROJECT}/cfg`, "/work/st"]);
  });

  it("[public Q kin] name a place that takes a key where the home is read-only, or the variable where none does", async () => {
    const refuse = async (readOnly: (path: string) => boolean): Promise<unknown> => {
      const disk = new MemoryFileSystem("/home/ada", "/srv", PROJECT);
      const erofs = Object.assign(new Error("read-only"), { code: "EROFS" });
      const fileSystem = changeFileSystem(disk, {
        mkdir: (path) => (readOnly(path) ? Promise.reject(erofs) : disk.mkdir(path)),
        open: (path, intent) =>
          intent === "create" && readOnly(path) ? Promise.reject(erofs) : disk.open(path, intent),
      });
      const refusal = await refusalOf(() =>
        ensureDefaultKeyFile({
          fileSystem,
          configFolder: "/home/ada/.config/splashdown",
          storeFolder: `${PROJECT}/outputs`,
          projectFolder: PROJECT,
          keptFolders: ["/home/ada", PROJECT, "/srv"],
          hasForeignSealedData: () => Promise.resolve(false),
          random: createSeededRandom(1),
        }),
      );
      expect(refusal.code).toBe("KEY_NOT_CREATED");
      return refusal.details["commands"];
    };
    expect(await refuse((path) => path.startsWith("/home"))).toEqual([
      "splashdown keys init --key-file /srv/splashdown.key",
      "export SPLASHDOWN_KEY_FILE=/srv/splashdown.key",
    ]);
    expect(await refuse(() => true)).toEqual(['export SPLASHDOWN_KEY="$(head -c 32 /dev/urandom | base64)"']);
  });
});
