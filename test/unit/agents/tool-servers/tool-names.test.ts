/** Which tool a name means, to a model, to the file and to whoever approves. */
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../../src/base/limits.js";
import { fitName, identityOf } from "../../../../src/agents/tools/tool-names.js";
import { createRecordingSink } from "../../../support/recording-sink.js";
import { createStepWork } from "../../../support/step-work.js";
import { createToldModel } from "../../../support/told-model.js";
import { errorOf, ToolTalks, type TalkEnd } from "../../../support/tool-talks.js";

const talks = new ToolTalks();
const toldNames = ({ requests }: TalkEnd): string[] => requests[0]?.tools.map(({ name }) => name) ?? [];

const USERS = [
  { name: "user.delete", description: "Deletes the user." },
  { name: "user_delete", description: "Only tells whether the user could be deleted." },
];
const DELETE = { server: "reg", tool: "user.delete" };

describe("the name of a tool", () => {
  it("[public A] is of that tool alone: two that would be cleaned to one are told apart, and the one asked for runs", async () => {
    const first = await talks.talk({ servers: [talks.listed(USERS)], turns: [[{ tool: "reg__user_delete" }]] });
    expect(toldNames(first)).toEqual([fitName(DELETE), "reg__user_delete"]);
    expect(await talks.read()).toEqual(["user_delete"]);
    await talks.talk({ servers: [talks.listed(USERS)], turns: [[{ tool: fitName(DELETE) }]] });
    expect(await talks.read()).toEqual(["user_delete", "user.delete"]);
  });

  it("[public A kin] binds what the file says to the tool itself: the twin of an approved tool is asked about", async () => {
    const server = talks.listed(USERS, {
      allowed: [["reg__user_delete", "reg__user.delete"]],
      policies: { "reg__user.delete": { approve: "always" } },
    });
    const room = talks.open({ modelOf: () => createToldModel([[{ tool: fitName(DELETE) }]]).model });
    const sink = createRecordingSink((name) => (name === "wantApproval" ? new Error("asked") : undefined));
    const wishes: unknown[] = [];
    const work = createStepWork("model", {
      workflowFolder: talks.folder,
      definition: { provider: "told", tools: [server] },
      // A yes for the other tool, whatever it is called.
      approvalOf: (wish) => {
        wishes.push(wish);
        return wish.tool === identityOf({ server: "reg", tool: "user_delete" }) ? { isGiven: true } : undefined;
      },
    });
    await room.perform(work, { sink });
    expect(wishes[0]).toEqual({ call: "1.1", tool: identityOf(DELETE), label: "reg__user.delete", isForAll: false });
    expect(await talks.read()).toEqual([]);
  });

  it("[public A kin] of 64 characters and more ends in a digest: what differs only behind the cut stays two", async () => {
    const long = "x".repeat(70);
    const told = toldNames(
      await talks.talk({ servers: [talks.listed([{ name: `${long}a` }, { name: `${long}b` }])], turns: [] }),
    );
    expect(new Set(told).size).toBe(2);
    for (const name of told) expect(name).toMatch(/^reg__x{50}_[0-9a-f]{8}$|^reg__x+_[0-9a-f]{8}$/);
    expect(told.every((name) => name.length === 64)).toBe(true);
  });

  it("[public A kin] stays two where server and tool are split elsewhere: a__b and c, a and b__c", async () => {
    const servers = [
      talks.listed([{ name: "c" }], { server: "a__b" }),
      talks.listed([{ name: "b__c" }], { server: "a" }),
    ];
    const told = toldNames(await talks.talk({ servers, turns: [] }));
    expect(told).toEqual([expect.stringMatching(/^a__b__c_[0-9a-f]{8}$/), "a__b__c"]);
  });

  it("[public A kin] that a tool has chosen to look like another's digest is not kept", () => {
    const forged = { server: "reg", tool: fitName(DELETE).slice("reg__".length) };
    expect(fitName(forged)).not.toBe(fitName(DELETE));
  });

  it.each([
    ["[public A kin] is refused where one server has two tools of it", [{ name: "go", description: "Reads." }]],
  ])("%s", async (_title, more) => {
    const end = await talks.talk({
      servers: [talks.listed([{ name: "go" }, ...more])],
      turns: [[{ tool: "reg__go" }]],
    });
    expect(errorOf(end.outcome)).toMatchObject({ code: "TOOL_UNAVAILABLE" });
    expect(errorOf(end.outcome)?.message).toContain('"go" of the server reg and "go" of the server reg');
    expect(end.requests).toEqual([]);
  });

  it("[public A kin] is refused where a function has it, naming both", async () => {
    const run = { name: "reg__go", function: "@x", parameters: { type: "object" }, effects: "none" };
    const end = await talks.talk({
      servers: [talks.listed([{ name: "go" }])],
      turns: [],
      functions: new Map([["@x", () => "ran"]]),
      parts: { definition: { tools: [run, talks.listed([{ name: "go" }])] } },
    });
    expect(errorOf(end.outcome)?.message).toContain('the function reg__go and "go" of the server reg');
  });

  it("[public A kin] in the file that means two tools is refused, naming both", async () => {
    const required = ["a__b__c"];
    const servers = [
      talks.listed([{ name: "c" }], { server: "a__b", allowed: [required], required }),
      talks.listed([{ name: "b__c" }], { server: "a", allowed: [required], required }),
    ];
    const { outcome } = await talks.talk({ servers, turns: [] });
    expect(errorOf(outcome)?.message).toContain('"c" of the server a__b and "b__c" of the server a');
  });

  it("[public A kin] of a call that is made again after a crash must still mean the tool it was intended for", async () => {
    const turns = [{ say: "", calls: [{ id: "x", name: "reg__user_delete", input: {} }], factors: [] }];
    const tools = new Map([["1.1", { tool: identityOf(DELETE) }]]);
    const { outcome } = await talks.talk({ servers: [talks.listed(USERS)], turns: [], parts: { turns, tools } });
    expect(errorOf(outcome)).toMatchObject({ code: "TOOL_UNAVAILABLE" });
    expect(await talks.read()).toEqual([]);
  });

  it("[public A kin] of a tool beyond the first five hundred is said, not dropped in silence", async () => {
    const many = Array.from({ length: LIMITS.toolsPerServerMax + 2 }, (_none, index) => ({ name: `t${index}` }));
    const { room } = await talks.talk({ servers: [talks.listed(many)], turns: [] });
    expect(room.warnings).toEqual(["the tool server reg has 502 tools; the first 500 can be used, and not t500, t501"]);
  });

  it("is told once where a server lists the very same tool twice", async () => {
    const end = await talks.talk({ servers: [talks.listed([{ name: "go" }, { name: "go" }])], turns: [] });
    expect(toldNames(end)).toEqual(["reg__go"]);
  });
});
