/** Passphrases that stand in no variable: in a file, or in somebody's head. */
import { describe, expect, it } from "vitest";
import { loadPassphraseFile, parsePassphrase } from "../../../src/vault/key-file.js";
import {
  computeSlotLabel,
  formatSource,
  isReadySource,
  readSources,
  type KeyPorts,
  type KeySourceSetting,
} from "../../../src/vault/key-source.js";
import { refusalOf } from "../../support/error-code.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";

const IN_FILE: KeySourceSetting = { kind: "passphrase", file: "/home/ada/secrets/words.txt" };
const TYPED: KeySourceSetting = { kind: "passphrase", typed: "opens" };
const IN_VARIABLE: KeySourceSetting = { kind: "passphrase", environment: "WORDS" };

function portsWith(readPassphrase?: KeyPorts["readPassphrase"]): KeyPorts {
  const fileSystem = new MemoryFileSystem("/home/ada");
  return {
    fileSystem,
    readSecret: () => undefined,
    ...(readPassphrase === undefined ? {} : { readPassphrase }),
  };
}

async function tell(setting: KeySourceSetting, ports: KeyPorts): Promise<unknown> {
  const [source] = await readSources([setting], ports);
  if (source === undefined) throw new Error("no source");
  return isReadySource(source) ? source.secret : (source.problem?.message ?? source.absence);
}

describe("a kept passphrase", () => {
  it("is named by where it is, and its slot by no path", () => {
    expect([IN_FILE, TYPED, IN_VARIABLE].map(formatSource)).toEqual([
      "passphrase in /home/ada/secrets/words.txt",
      "passphrase typed at the terminal",
      "passphrase in $WORDS",
    ]);
    expect([IN_FILE, TYPED, IN_VARIABLE].map(computeSlotLabel)).toEqual(["words.txt", "typed", "WORDS"]);
  });

  it("opens with the words that it was given", async () => {
    const ports = portsWith(() => Promise.resolve("four words in line"));
    const secret = { nature: "passphrase", text: "four words in line" };
    expect([await tell(IN_FILE, ports), await tell(TYPED, ports)]).toEqual([secret, secret]);
  });

  it("says what is missing: the file, the terminal, or words", async () => {
    const [nobody, nothing] = [portsWith(), portsWith(() => Promise.resolve(undefined))];
    expect(await tell(IN_FILE, nothing)).toBe("the file does not exist");
    expect(await tell(TYPED, nobody)).toBe("there is no terminal to type it at");
    expect(
      await tell(
        TYPED,
        portsWith(() => Promise.resolve("  ")),
      ),
    ).toMatch(/is empty/);
  });
});

describe("the file of a passphrase", () => {
  const PATH = "/home/ada/words.txt";
  const fileSystemWith = (content: string, mode = 0o600) => {
    const fileSystem = new MemoryFileSystem("/home/ada");
    fileSystem.addFile(PATH, content, mode);
    return fileSystem;
  };

  it.each(["four words in line", "four words in line\n", "four words in line\r\n"])(
    "is its one line: %j",
    async (text) => {
      expect(await loadPassphraseFile(fileSystemWith(text), PATH)).toBe("four words in line");
    },
  );

  it("is nothing where there is none, and refused where others may read it or it has more lines", async () => {
    expect(await loadPassphraseFile(new MemoryFileSystem("/home/ada"), PATH)).toBeUndefined();
    const open = await refusalOf(() => loadPassphraseFile(fileSystemWith("words", 0o644), PATH));
    expect([open.code, open.message]).toEqual(["KEY_SOURCE_INVALID", expect.stringContaining("mode 644")]);
    const lines = await refusalOf(() => Promise.resolve().then(() => parsePassphrase("one\ntwo\n", PATH)));
    expect([lines.code, lines.message]).toEqual([
      "KEY_SOURCE_INVALID",
      expect.stringContaining("more than the one line"),
    ]);
  });
});
