import { describe, expect, it } from "vitest";
import type { FileSystem } from "../../../src/base/file-system.js";
import { RetryingFileSystem } from "../../../src/store/files/retrying-file-system.js";
import { DiskError } from "../../support/disk-model.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import { RushingClock } from "../../support/rushing-clock.js";

/** Fails the named call with the errno as often as told. */
function failing(name: "rename" | "unlink" | "syncFolder" | "open" | "link", errno: string, times: number) {
  const inner = new ModelFileSystem();
  let left = times;
  const fileSystem: FileSystem = new Proxy<FileSystem>(inner, {
    get: (_target, key) => {
      if (key === name && left > 0) {
        return async () => {
          left -= 1;
          throw new DiskError(errno, "/");
        };
      }
      const member: unknown = Reflect.get(inner, key, inner);
      return typeof member === "function" ? member.bind(inner) : member;
    },
  });
  return { inner, fileSystem };
}

async function renameUnder(platform: NodeJS.Platform, errno: string, times: number) {
  const { inner, fileSystem } = failing("rename", errno, times);
  const clock = new RushingClock();
  await (await inner.open("/a", "create")).close();
  const patient = new RetryingFileSystem({ fileSystem, clock, platform });
  const error: unknown = await patient.rename("/a", "/b").catch((reason: unknown) => reason);
  return { error, sleptMs: clock.sleptMs, names: await inner.readdir("/") };
}

describe("RetryingFileSystem", () => {
  it.each(["EPERM", "EBUSY", "EACCES"])("waits on Windows until a scanner lets go (%s)", async (errno) => {
    expect(await renameUnder("win32", errno, 4)).toEqual({ error: undefined, sleptMs: 150, names: ["b"] });
  });

  it.each(["EPERM", "EBUSY", "EACCES"].flatMap((errno) => [1, 5, 50].map((times) => ({ errno, times }))))(
    "FAULTS 45: a rename refused $times times with $errno is done or given up within bounds, and leaves one file",
    async ({ errno, times }) => {
      const { error, sleptMs, names } = await renameUnder("win32", errno, times);
      expect(sleptMs).toBeLessThan(6_000);
      if (error === undefined) expect(names).toEqual(["b"]);
      else expect({ error, names, times }).toMatchObject({ error: { code: errno }, names: ["a"], times: 50 });
    },
  );

  it("gives up on Windows after five seconds, and at once elsewhere", async () => {
    const waited = await renameUnder("win32", "EBUSY", 1000);
    expect(waited.error).toMatchObject({ code: "EBUSY" });
    expect(waited.sleptMs).toBeGreaterThanOrEqual(5000);
    const refused = await renameUnder("linux", "EACCES", 1);
    expect(refused).toMatchObject({ error: { code: "EACCES" }, sleptMs: 0, names: ["a"] });
  });

  it.each(["EPERM", "EISDIR", "EINVAL", "ENOTSUP"])(
    "forgives a failed folder sync (%s) on Windows only",
    async (errno) => {
      const clock = new RushingClock();
      const on = (platform: NodeJS.Platform) =>
        new RetryingFileSystem({ fileSystem: failing("syncFolder", errno, 1).fileSystem, clock, platform });
      await on("win32").syncFolder("/");
      await expect(on("linux").syncFolder("/")).rejects.toMatchObject({ code: errno });
      await expect(on("darwin").syncFolder("/")).rejects.toMatchObject({ code: errno });
    },
  );

  it("never forgives an I/O error of a folder sync, nor tries it again", async () => {
    for (const platform of ["win32", "linux"] as const) {
      const { fileSystem } = failing("syncFolder", "EIO", 1);
      const patient = new RetryingFileSystem({ fileSystem, clock: new RushingClock(), platform });
      await expect(patient.syncFolder("/")).rejects.toMatchObject({ code: "EIO" });
    }
  });

  it.each(["EMFILE", "ENFILE", "EINTR"])("opens again after %s", async (errno) => {
    const { fileSystem } = failing("open", errno, 3);
    const patient = new RetryingFileSystem({ fileSystem, clock: new RushingClock(), platform: "linux" });
    await (await patient.open("/a", "create")).close();
    expect(await patient.readdir("/")).toEqual(["a"]);
    expect((await patient.lstat("/a")).kind).toBe("file");
    expect((await patient.volumeOf("/")).volatile).toBe(false);
    await patient.mkdir("/d");
    await patient.rmdir("/d");
  });
});
