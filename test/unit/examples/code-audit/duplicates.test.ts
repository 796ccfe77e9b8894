import { describe, expect, it } from "vitest";
import { createTree, runSpecialist } from "./audit-tools.js";

const lines = (prefix: string, count: number) =>
  Array.from({ length: count }, (_value, at) => `  ${prefix}Call(${prefix}, value${at});`).join("\n");

describe("duplicates", () => {
  it("merges windows to the longest block and names its places", () => {
    const shared = lines("shared", 9);
    const folder = createTree({
      "a.js": `${lines("alpha", 3)}\n${shared}\n${lines("beta", 2)}\n`,
      "b.js": `${lines("gamma", 1)}\n\n// a comment in between\n${shared.replace("\n", "\n\n// note\n")}\n${lines("delta", 7)}\n`,
    });
    const { output } = runSpecialist("duplicates", folder);
    expect(output.blocks).toEqual({
      items: [
        {
          lines: 9,
          copies: 2,
          places: [
            { path: "a.js", from: 4, to: 12 },
            { path: "b.js", from: 4, to: 14 },
          ],
          places_cut: 0,
        },
      ],
      total: 1,
      cut: 0,
    });
    expect(output.lines).toEqual({ meaningful: 31, duplicated: 9, ratio: 0.2903 });
  });

  it("sees no block in five equal lines, in imports, or in lines without words", () => {
    const imports = Array.from({ length: 10 }, (_value, at) => `import x${at} from "y${at}";`).join("\n");
    const body = (name: string) => `${imports}\n${lines("five", 5)}\n${"}\n)\n];\n".repeat(6)}${lines(name, 6)}\n`;
    const { output } = runSpecialist("duplicates", createTree({ "a.js": body("one"), "b.js": body("two") }));
    expect(output.blocks.total).toBe(0);
    expect(output.lines.duplicated).toBe(0);
  });

  it("reports equal files as files, and a repetition within one file as a block that does not overlap itself", () => {
    const text = `${lines("same", 8)}\n`;
    const folder = createTree({
      "one.js": text,
      "two.js": text,
      "three.js": text,
      "loop.js": "  again(and, again);\n".repeat(20),
    });
    const { output } = runSpecialist("duplicates", folder);
    expect(output.identical_files).toMatchObject({ total: 1, files: 2, lines: 16 });
    expect(output.identical_files.items[0].paths).toEqual(["one.js", "three.js", "two.js"]);
    expect(output.blocks.items[0]).toMatchObject({ lines: 8, copies: 2 });
    expect(output.blocks.items[0].places[1].from).toBeGreaterThan(output.blocks.items[0].places[0].to);
  });

  it("leaves generated and minified files out", () => {
    const text = `${lines("same", 8)}\n`;
    const folder = createTree({ "a.js": text, "b.js": `// @generated\n${text}`, "c.min.js": text });
    const { output } = runSpecialist("duplicates", folder);
    expect(output.coverage).toMatchObject({ eligible: 1, examined: 1 });
    expect(output.lines.duplicated).toBe(0);
  });
});
