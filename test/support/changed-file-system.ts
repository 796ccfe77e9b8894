/** A file system of which some methods, or some of its handles' methods, are replaced; the rest are those of the given one. */
import type { FileHandle, FileSystem } from "../../src/base/file-system.js";

type HandleChange = (handle: FileHandle) => Partial<FileHandle>;

/** A file system whose handles, opened with one of the intents, are changed. */
export function changeHandles(
  fileSystem: FileSystem,
  change: HandleChange,
  intents: readonly string[] = ["create", "append", "read"],
): FileSystem {
  return changeFileSystem(fileSystem, {
    open: async (path, intent) => {
      const handle = await fileSystem.open(path, intent);
      return intents.includes(intent) ? changeHandle(handle, change(handle)) : handle;
    },
  });
}

export function changeHandle(handle: FileHandle, changed: Partial<FileHandle>): FileHandle {
  return {
    write: (bytes) => handle.write(bytes),
    read: (position, length) => handle.read(position, length),
    stat: () => handle.stat(),
    datasync: () => handle.datasync(),
    sync: () => handle.sync(),
    close: () => handle.close(),
    ...changed,
  };
}

export function changeFileSystem(fileSystem: FileSystem, changed: Partial<FileSystem>): FileSystem {
  return {
    open: (path, intent) => fileSystem.open(path, intent),
    mkdir: (path) => fileSystem.mkdir(path),
    readdir: (path) => fileSystem.readdir(path),
    look: (path) => fileSystem.look(path),
    lstat: (path) => fileSystem.lstat(path),
    link: (from, to) => fileSystem.link(from, to),
    rename: (from, to) => fileSystem.rename(from, to),
    erase: (path) => fileSystem.erase(path),
    unlink: (path) => fileSystem.unlink(path),
    rmdir: (path) => fileSystem.rmdir(path),
    syncFolder: (path) => fileSystem.syncFolder(path),
    volumeOf: (path) => fileSystem.volumeOf(path),
    ...changed,
  };
}
