import { describe, expect, it } from "vitest";
import { formatKeyFile, loadKeyFile, parseKeyFile, type KeyFile } from "../../../src/vault/key-file.js";
import { initKeyFile } from "../../../src/vault/default-key.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";

const key = Buffer.from(Array.from({ length: 32 }, (_unused, index) => index));
const text = formatKeyFile(key);
const PATH = "/keys/some.key";

function fileSystemWith(content: string | Uint8Array, mode = 0o600): MemoryFileSystem {
  const fileSystem = new MemoryFileSystem();
  fileSystem.addFile(PATH, content, mode);
  return fileSystem;
}

describe("key file text", () => {
  it("is three lines: what it is, the key, its fingerprint", () => {
    expect(text).toBe("splashdown-key/1\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\nfingerprint 55128de93e982f54\n");
    expect((parseKeyFile(text) as KeyFile).bytes).toEqual(key);
  });

  it("is refused after any change", () => {
    for (let bit = 0; bit < text.length * 8; bit += 1) {
      const changed = Buffer.from(text);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(typeof parseKeyFile(changed.toString("latin1"))).toBe("string");
    }
    for (let length = 0; length < text.length; length += 1)
      expect(typeof parseKeyFile(text.slice(0, length))).toBe("string");
  });

  it.each([
    ["", "is not a splashdown key file"],
    ["-----BEGIN OPENSSH PRIVATE KEY-----\n", "is not a splashdown key file"],
    [text.slice(0, 40), "is cut off"],
    [`${text}\n`, "holds more than a key"],
    [`${text} `, "holds more than a key"],
    [text.replaceAll("\n", "\r\n"), "is not a splashdown key file"],
    [text.replace("AAEC", "AAE"), "does not hold 32 bytes of base64"],
    [text.replace("AAEC", "AAED"), "is damaged: its check line does not fit"],
  ])("says of %j what is wrong", (wrong, problem) => expect(parseKeyFile(wrong)).toBe(problem));
});

describe("loadKeyFile", () => {
  it("gives key and fingerprint, and nothing for an absent file", async () => {
    const loaded = await loadKeyFile(fileSystemWith(text), PATH);
    expect(loaded).toEqual({ bytes: key, fingerprint: "55128de93e982f54" });
    expect(await loadKeyFile(fileSystemWith(text), "/keys/none")).toBeUndefined();
    expect(await loadKeyFile(fileSystemWith(text), "/none/none")).toBeUndefined();
  });

  it.each([0o640, 0o604, 0o620, 0o610, 0o644, 0o777])("V6: refuses mode %i and says how to fix it", async (mode) => {
    const error = await refusalOf(() => loadKeyFile(fileSystemWith(text, mode), PATH));
    expect(error.code).toBe("KEY_SOURCE_INVALID");
    expect(error.message).toBe(
      `the key file ${PATH} can be used by others (mode ${mode.toString(8)}); make it private with chmod 600`,
    );
  });

  it("accepts a file that only its owner can read", async () => {
    expect((await loadKeyFile(fileSystemWith(text, 0o400), PATH))?.fingerprint).toBe("55128de93e982f54");
  });

  it("V6: refuses links, folders and other things", async () => {
    const fileSystem = new MemoryFileSystem("/keys/folder");
    fileSystem.addLink(PATH);
    expect((await refusalOf(() => loadKeyFile(fileSystem, PATH))).message).toContain("is a link");
    expect((await refusalOf(() => loadKeyFile(fileSystem, "/keys/folder"))).message).toContain("is not a regular file");
  });

  it("refuses a link that was put there after the look", async () => {
    const fileSystem = fileSystemWith(text);
    fileSystem.fault = (operation) => (operation.startsWith("open") ? "ELOOP" : undefined);
    expect((await refusalOf(() => loadKeyFile(fileSystem, PATH))).message).toContain("is a link");
  });

  it("names what keeps it from being read", async () => {
    const fileSystem = fileSystemWith(text);
    fileSystem.fault = (operation) => (operation.startsWith("open") ? "EACCES" : undefined);
    expect((await refusalOf(() => loadKeyFile(fileSystem, PATH))).message).toContain("cannot be read (EACCES)");
    expect((await refusalOf(() => loadKeyFile(fileSystemWith("x".repeat(5000)), PATH))).message).toContain("too large");
  });

  it("never puts the key into an error", async () => {
    const error = await refusalOf(() => loadKeyFile(fileSystemWith(`${text}\n`), PATH));
    expect(JSON.stringify(error)).not.toContain("AAECAwQF");
  });
});

describe("initKeyFile", () => {
  const init = (fileSystem: MemoryFileSystem, path = PATH) =>
    initKeyFile({ fileSystem, path, random: createSeededRandom(1) });

  it("makes a private file that can be read again, and its folders, each made durable", async () => {
    const fileSystem = new MemoryFileSystem("/home");
    const made = await init(fileSystem, "/home/ada/keys/a.key");
    expect((await loadKeyFile(fileSystem, made.path))?.fingerprint).toBe(made.fingerprint);
    expect(fileSystem.paths()).toEqual(["/home/ada/keys/a.key"]);
    expect(fileSystem.nodes.get("/home/ada/keys")?.mode).toBe(0o700);
    const steps = fileSystem.operations.map((operation) => operation.replace(/\.[0-9a-f]{16}\.tmp/, "TEMP"));
    expect(steps.slice(0, 13)).toEqual([
      "mkdir /home/ada/keys",
      "mkdir /home/ada",
      "mkdir /home/ada/keys",
      "open:create /home/ada/keys/TEMP",
      "write /home/ada/keys/TEMP",
      "sync /home/ada/keys/TEMP",
      "close /home/ada/keys/TEMP",
      "link /home/ada/keys/a.key",
      "unlink /home/ada/keys/TEMP",
      "syncFolder /",
      "syncFolder /home",
      "syncFolder /home/ada",
      "syncFolder /home/ada/keys",
    ]);
  });

  it("V6: never overwrites, whatever is there", async () => {
    for (const content of [text, "", "something else"]) {
      const fileSystem = fileSystemWith(content);
      const error = await refusalOf(() => init(fileSystem));
      expect([error.code, error.message]).toEqual([
        "KEY_NOT_CREATED",
        `the key file ${PATH} exists and is never overwritten`,
      ]);
      expect(fileSystem.text(PATH)).toBe(content);
      expect(fileSystem.paths()).toEqual([PATH]);
    }
  });

  it("loops over short writes", async () => {
    const fileSystem = new MemoryFileSystem("/keys");
    fileSystem.writeBytesMax = 7;
    const made = await init(fileSystem);
    expect((await loadKeyFile(fileSystem, PATH))?.fingerprint).toBe(made.fingerprint);
  });

  it("leaves no half file behind when any operation fails", async () => {
    const count = await countOperations();
    for (let failing = 0; failing < count; failing += 1) {
      const fileSystem = new MemoryFileSystem("/keys");
      let index = 0;
      fileSystem.fault = () => (index++ === failing ? "EIO" : undefined);
      const code = await codeOfAsync(() => init(fileSystem));
      expect(["KEY_NOT_CREATED", "none"]).toContain(code);
      expect(typeof parseKeyFile(fileSystem.text(PATH) ?? text)).toBe("object");
    }
  });

  async function countOperations(): Promise<number> {
    const fileSystem = new MemoryFileSystem("/keys");
    await init(fileSystem);
    expect(fileSystem.operations.length).toBeGreaterThan(6);
    return fileSystem.operations.length;
  }
});
