/** Every format of a file, byte for byte as it was when it was made, and read for ever. */
import { describe, expect, it } from "vitest";
import { listGolden, loadGolden } from "./golden-files.js";
import { FORMATS } from "./golden-formats.js";

describe("the formats on disk", () => {
  it.each(FORMATS)("$name tells what it told when it was made", async ({ name, read, tells }) => {
    expect(await read(loadGolden(name))).toEqual(tells);
  });

  it.each(FORMATS.flatMap(({ name, make }) => (make === undefined ? [] : [{ name, make }])))(
    "$name is made today as it was then, byte for byte",
    async ({ name, make }) => {
      expect(Buffer.from(await make()).toString("latin1")).toBe(loadGolden(name).toString("latin1"));
    },
  );

  it.each(FORMATS)("$name tells nothing else with a bit flipped", async ({ name, read, tells }) => {
    const bytes = loadGolden(name);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    const told = await Promise.resolve()
      .then(() => read(bytes))
      .catch(() => "refused");
    expect(told === "refused" || JSON.stringify(told) !== JSON.stringify(tells) || name.startsWith("shredded")).toBe(
      true,
    );
  });

  it("has a file for every format, and no other", () => {
    expect(listGolden()).toEqual(FORMATS.map(({ name }) => name).sort());
  });
});
