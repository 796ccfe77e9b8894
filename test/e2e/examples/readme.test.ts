/** What the README shows of files and programs is run as it stands there. */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

const README = readFileSync(join(PROJECT_FOLDER, "README.md"), "utf8");
const blocksOf = (language: string) =>
  [...README.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, text = ""]) => text);

/** A place in which the package is installed. */
function openProject(): CommandPlace {
  const place = openPlace();
  mkdirSync(join(place.folder, "node_modules"));
  symlinkSync(PROJECT_FOLDER, join(place.folder, "node_modules", "splashdown"));
  return place;
}

describe("the README", () => {
  it("shows files that are valid, but for the name that a part of one does not repeat", async () => {
    const place = openProject();
    place.write("tools.mjs", "export const charge = () => ({});\n");
    const files = blocksOf("yaml");
    expect(files.length).toBeGreaterThan(2);
    for (const [index, text] of files.entries()) {
      const whole = text.includes("workflow:") ? text : `workflow: { name: part }\n${text}`;
      const { code, stderr } = await place.run(["validate", place.write(`${index}.yaml`, whole)]);
      expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    }
  });

  it("shows a workflow that runs, and programs that run it and one of their own", async () => {
    const place = openProject();
    place.write("workflow.yaml", blocksOf("yaml")[0] ?? "");
    for (const name of ["prices", "mail"])
      place.write(
        `tools/${name}.mjs`,
        `console.log(JSON.stringify({ output: { by: "${name}" }, confidence: 0.9 }));\n`,
      );
    const { code } = await place.run(["run", "workflow.yaml", "--input", "topic=rockets", "--quiet"]);
    expect(code).toBe(0);
    const programs = blocksOf("ts");
    const ends = [];
    for (const [index, text] of programs.entries()) {
      const file = place.write(`${index}.mjs`, text);
      const { code: status, stdout } = await place.run([file], { program: process.execPath });
      ends.push([status, stdout.trim()]);
    }
    expect(ends).toEqual([[0, "done { letters: 7 }"]]);
  });
});
