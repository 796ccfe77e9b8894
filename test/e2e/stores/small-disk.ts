/** A disk that is really full: a file system of its own in memory, whose size a test sets while it is used. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOMY = "size=1g";

export class SmallDisk {
  /** Anybody may enter it: a database server is another user. */
  readonly path = mkdtempSync(join(tmpdir(), "splashdown-disk-"));
  readonly #elsewhere: string[] = [];

  private constructor() {
    chmodSync(this.path, 0o755);
  }

  /** With room for everything; `undefined` where nothing can be mounted. */
  static mount(): SmallDisk | undefined {
    const disk = new SmallDisk();
    if (mount(["-t", "tmpfs", "-o", `${ROOMY},mode=755`, "tmpfs", disk.path])) return disk;
    rmSync(disk.path, { recursive: true });
    return undefined;
  }

  /** From now on so much more fits onto it and nothing beyond. Unit: KiB. */
  leave(freeKib: number): void {
    const { blocks, bfree, bsize } = statfsSync(this.path);
    const usedKib = Math.ceil(((blocks - bfree) * bsize) / 1024);
    this.#resize(`size=${usedKib + freeKib}k`);
  }

  makeRoom(): void {
    this.#resize(ROOMY);
  }

  /** A file of it that takes no room here: it lies in another folder, and only what is made beside it is on this disk. */
  layElsewhere(name: string, folder: string): void {
    const [here, there] = [join(this.path, name), join(folder, name)];
    for (const path of [here, there]) writeFileSync(path, "", { mode: 0o600 });
    if (!mount(["--bind", there, here])) throw new Error(`${there} cannot be mounted at ${here}`);
    this.#elsewhere.push(here);
  }

  remove(): void {
    for (const path of this.#elsewhere) spawnSync("umount", [path]);
    spawnSync("umount", [this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }

  #resize(size: string): void {
    if (!mount(["-o", `remount,${size}`, this.path])) throw new Error(`the disk cannot be given ${size}`);
  }
}

function mount(args: readonly string[]): boolean {
  return spawnSync("mount", args).status === 0;
}
