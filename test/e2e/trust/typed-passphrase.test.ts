/** A passphrase typed on a real terminal: added, given, mistyped, left. Nothing of it is ever shown. */
import { describe, expect, it } from "vitest";
import { openPlace } from "../../support/command-place.js";
import { NO_TERMINAL, TerminalRun } from "../../support/terminal.js";

const [ENTER, CTRL_C] = ["\r", "\u0003"];
const [WORDS, SLIP, WRONG] = ["correct horse battery", "correct hearse battery", "somebody else's words"];

describe.skipIf(NO_TERMINAL !== undefined)("a passphrase on a terminal", () => {
  it("is added when it was typed twice, opens the task, and is never shown", async () => {
    const place = openPlace();
    place.write("w.yaml", 'workflow: {name: w}\nsteps: [{name: a, type: set, value: "1"}]\n');
    expect((await place.run(["run", "w.yaml", "--task", "t"])).code).toBe(0);

    const adding = new TerminalRun(place, ["keys", "add", "t", "--passphrase-typed"]);
    const type = async (run: TerminalRun, shown: RegExp, text: string): Promise<void> => {
      await run.shows(shown);
      run.press(`${text}${ENTER}`);
    };
    await type(adding, /new passphrase/, "too short");
    await type(adding, /needs 12 characters or more/, WORDS);
    await type(adding, /the same again/, SLIP);
    await type(adding, /they were not the same; new passphrase/, WORDS);
    await type(adding, /not the same; new passphrase[\s\S]*the same again/, WORDS);
    expect((await adding.done).code).toBe(0);
    const slots = JSON.stringify((await place.run(["keys", "show", "t", "--json"])).json());
    expect(slots).toMatch(/"type":"passphrase","label":"typed"/);

    // The key at hand is another one than the task began with.
    const env = { SPLASHDOWN_KEY: Buffer.alloc(32, 9).toString("base64"), SPLASHDOWN_PASSPHRASE_TYPED: "1" };
    const open = (): TerminalRun => new TerminalRun(place, ["show", "t"], { env });
    const opening = open();
    await type(opening, /passphrase/, "");
    await type(opening, /nothing was typed/, WORDS);
    expect((await opening.done).code).toBe(0);
    expect(await opening.lines()).toContainEqual(expect.stringMatching(/\bdone\b/));

    const mistaken = open();
    await type(mistaken, /passphrase/, WRONG);
    expect((await mistaken.done).code).toBe(12);

    const left = open();
    await left.shows(/passphrase/);
    left.press(CTRL_C);
    expect((await left.done).code).toBe(130);
    await left.shows("no passphrase was typed");

    for (const run of [adding, opening, mistaken, left])
      for (const text of [WORDS, SLIP, WRONG, "too short", "correct", "somebody"])
        expect(run.raw(), text).not.toContain(text);
  });
});
