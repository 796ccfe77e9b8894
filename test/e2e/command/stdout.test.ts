/** Stdout of a process belongs to its answer, whatever a module or a function prints. */
import { describe, expect, it } from "vitest";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

const NOISE = `import fs, { writeSync } from "node:fs";
console.log("noise of a log");
process.stdout.write("noise of a stream\\n");
fs.writeSync(1, "noise of a descriptor\\n");
writeSync(1, "noise of a name\\n");
`;
const NOISY = `${NOISE}import { execSync } from "node:child_process";
execSync("echo noise of a program", { stdio: "inherit" });
fs.appendFileSync("keys-seen", String(process.env.SPLASHDOWN_KEY) + "\\n");
export default { workflow: { name: "noisy" }, steps: [{ name: "a", type: "set", value: 1 }] };
`;

function openNoisy(): CommandPlace {
  const place = openPlace();
  place.write("noisy.mjs", NOISY);
  return place;
}

describe("a module that prints when it is loaded", () => {
  it("[kinds F7 kin] leaves the document of validate whole, and sees no key", async () => {
    const place = openNoisy();
    const { code, stdout, stderr } = await place.run(["validate", "noisy.mjs", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, workflow: "noisy" });
    expect(stderr).toContain("noise of a program");
    expect(place.read("keys-seen")).toBe("undefined\n");
  });

  it("[kinds F7 kin] leaves the plan of a dry run whole", async () => {
    const { code, stdout } = await openNoisy().run(["run", "noisy.mjs", "--dry-run", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ dry_run: true });
  });

  it("[kinds F7 kin] leaves a drawing whole, and its status", async () => {
    const place = openNoisy();
    expect((await place.run(["graph", "noisy.mjs"])).stdout.startsWith("flowchart")).toBe(true);
    place.write("bad.mjs", `${NOISE}export default { workflow: { name: "bad" }, steps: [{ name: "a", tipe: 1 }] };`);
    expect(await place.run(["graph", "bad.mjs"])).toMatchObject({ code: 2, stdout: "" });
  });

  it("[security L7 kin] sees no key while it is loaded for a run, and its functions see none", async () => {
    const place = openPlace();
    place.write(
      "w.mjs",
      `const seen = [process.env.SPLASHDOWN_KEY ?? null];
export default { workflow: { name: "w" }, steps: [{ name: "a", effects: "none", function: () => [...seen, process.env.SPLASHDOWN_KEY ?? null] }] };`,
    );
    const { stdout } = await place.run(["--json", "run", "w.mjs"]);
    expect(JSON.parse(stdout)).toMatchObject({ output: { a: [null, null] } });
  });

  it("[security L7 kin] hands no key on to programs that its functions start", async () => {
    const place = openPlace();
    place.write(
      "f.mjs",
      'import { execSync } from "node:child_process";\nexport const f = () => execSync("env").toString();',
    );
    place.write("w.yaml", "workflow: {name: w}\nsteps:\n  - {name: a, function: ./f.mjs#f, effects: none}\n");
    const { stdout } = await place.run(["--json", "run", "w.yaml"]);
    const { output } = JSON.parse(stdout) as { output: { a: string } };
    expect(output.a).toContain("HOME=");
    expect(output.a).not.toMatch(/SPLASHDOWN_(?:KEY|PASSPHRASE)=/);
  });

  it("[security L7 kin] sees none in what the system shows of the process", async () => {
    const place = openPlace();
    const read = '(await import("node:fs")).readFileSync("/proc/self/environ", "latin1")';
    place.write(
      "f.mjs",
      `export const f = async () => ${read}.split("\\0").filter((one) => /^SPLASHDOWN_KEY=./.test(one)).length;`,
    );
    place.write("w.yaml", "workflow: {name: w}\nsteps:\n  - {name: a, function: ./f.mjs#f, effects: none}\n");
    const { stdout } = await place.run(["--json", "run", "w.yaml"]);
    expect(JSON.parse(stdout)).toMatchObject({
      output: { a: process.platform === "linux" ? 0 : (expect.any(Number) as number) },
    });
  });
});
