import { readdirSync, readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { validateKeyringHeader } from "../../../src/schema/generated/keyring.js";
import { parsePointer } from "../../../src/schema/validator.js";

const root = resolve(import.meta.dirname, "../../..");
const example = (): Record<string, unknown> => {
  const schema = JSON.parse(readFileSync(join(root, "schemas/keyring.schema.json"), "utf8")) as {
    examples: [Record<string, unknown>];
  };
  return schema.examples[0];
};

describe("validateKeyringHeader", () => {
  it("accepts the schema's own example", () => {
    const value = example();
    expect(validateKeyringHeader(value)).toEqual({ ok: true, value });
  });

  it("H2: names all defects with their places", () => {
    const value = { ...example(), rev: 0, active: "XYZ", extra: true };
    const verdict = validateKeyringHeader(value);
    expect(verdict.ok).toBe(false);
    if (verdict.ok) return;
    expect(verdict.defects.map(({ path, message }) => [path, message])).toEqual([
      ["", `has an unknown key "extra"`],
      ["/rev", "must be >= 1"],
      ["/active", `must match pattern "^[0-9a-f]{16}$"`],
    ]);
  });

  it("refuses a key derivation over the ceilings and an unknown one", () => {
    const value = example() as { keys: [{ slots: [Record<string, unknown>] }] };
    value.keys[0].slots[0]["kdf"] = { name: "scrypt", log2n: 19, r: 8, p: 1, salt: "A".repeat(43) };
    expect(validateKeyringHeader(value).ok).toBe(false);
    value.keys[0].slots[0]["kdf"] = { name: "argon2id" };
    expect(validateKeyringHeader(value).ok).toBe(false);
    value.keys[0].slots[0]["kdf"] = { name: "scrypt", log2n: 17, r: 8, p: 1, salt: "A".repeat(43) };
    expect(validateKeyringHeader(value).ok).toBe(true);
  });
});

describe("parsePointer", () => {
  it("gives the parts unescaped", () => {
    expect(parsePointer("")).toEqual([]);
    expect(parsePointer("/a~1b/0/~0c")).toEqual(["a/b", "0", "~c"]);
  });
});

describe("generate-types", () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  const copyProject = (): string => {
    const folder = mkdtempSync(join(tmpdir(), "generate-types-"));
    folders.push(folder);
    for (const part of ["schemas", "scripts", "src/schema"])
      cpSync(join(root, part), join(folder, part), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    return folder;
  };
  const generate = (folder: string): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, "scripts/generate-types.mjs")], {
      encoding: "utf8",
    });
    return `${String(status)} ${stdout}${stderr}`;
  };

  it("writes nothing where nothing differs", () => {
    expect(generate(root)).toBe("0 ");
    expect(readdirSync(join(root, "src/schema/generated"))).toContain("keyring.ts");
  });

  it("writes anew what was edited, and removes what has no schema", () => {
    const folder = copyProject();
    const [keyring, orphan] = ["keyring.ts", "orphan.ts"].map((name) => join(folder, "src/schema/generated", name));
    appendFileSync(keyring ?? "", "// edited\n");
    appendFileSync(orphan ?? "", "export {};\n");
    expect(generate(folder)).toBe("0 wrote src/schema/generated/keyring.ts\nremoved src/schema/generated/orphan.ts\n");
    expect(readFileSync(keyring ?? "", "utf8")).not.toContain("edited");
  });

  it("refuses a schema whose example is not valid", () => {
    const folder = copyProject();
    const path = join(folder, "schemas/keyring.schema.json");
    writeFileSync(path, readFileSync(path, "utf8").replace('"rev": 1', '"rev": 0'));
    expect(generate(folder)).toMatch(/^1 .*keyring\.schema\.json: example 0 is not valid/s);
  });
});
