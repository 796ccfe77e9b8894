import { describe, expect, it } from "vitest";
import { fillVariables, listAddressSecrets } from "../../../src/agents/outcome/variables.js";

const fill = (text: string) =>
  fillVariables(text, {
    environment: (name) => ({ A: "one", URL: "http://x" })[name],
    learn: () => undefined,
    missing: (name) => new Error(`no ${name}`),
  });

describe("variables that are filled when they are used", () => {
  it("take their value, their default, or fail by name; two dollars stand for the text itself", () => {
    expect(fill("${URL}/${A}?b=${B:-two}")).toBe("http://x/one?b=two");
    expect(fill("$${A} and ${A}")).toBe("${A} and one");
    expect(() => fill("${B}")).toThrow("no B");
  });

  it.each([
    ["${BASE}/v1", []],
    ["https://${HOST}:${PORT}/v1", []],
    ["https://${HOST}/mcp?key=${KEY}", ["KEY"]],
    ["https://${USER}:${PASS}@host/${PATH}", ["USER", "PASS", "PATH"]],
    ["${BASE}/${TOKEN}/mcp", ["TOKEN"]],
    ["no address, ${WORD}", ["WORD"]],
  ])("of the address %s may hold a key: %j", (address, names) => {
    expect(listAddressSecrets(address)).toEqual(names);
  });
});
