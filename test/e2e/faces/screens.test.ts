/**
 * What a person sees of a run, compared with kept screens at three widths: a loop, a retry with its countdown, a gate, a
 * failed step. With SPLASHDOWN_PAGES=write they are written anew; look at them then.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { countColumns } from "../../../src/cli/terminal/text-width.js";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { openPlace } from "../../support/command-place.js";
import { hold, release } from "../../support/held-steps.js";
import { NO_TERMINAL, TerminalRun } from "../../support/terminal.js";

const WORKFLOW = `
workflow: { name: letters }
steps:
  - { name: fetch, command: [sh, -c, 'cat > in; echo "{\\"names\\": [\\"ann\\", \\"bob\\", \\"cleo\\", \\"dan\\", \\"eve\\"]}"'], effects: none }
  - name: write
    for_each: fetch.output.names
    as: person
    max_concurrent: 2
    step: { name: letter, command: [sh, write.sh, "{{ person }}"], effects: none }
    depends_on: [fetch]
  - name: publish
    command: [sh, publish.sh]
    effects: none
    retry: { max_attempts: 2, delay_seconds: 3 }
    depends_on: [fetch]
  - { name: approve, type: human_gate, prompt: "Send the letters?", options: [send, drop], depends_on: [write, publish] }
  - { name: send, when: "approve.output.selected == 'send'", command: [sh, -c, 'echo "TypeError: price is undefined" >&2; exit 2'], effects: none, depends_on: [approve] }
`;
/** The first two are written at once, the others wait while they are held. */
const WRITE = `case "$1" in ann|bob) ;; *) while [ -e hold-rest ]; do sleep 0.02; done ;; esac; echo '{"text": "dear"}'`;
const PUBLISH = `[ -e tried ] && { echo '{}'; exit 0; }; touch tried; echo "Error: the printer of the second floor is busy" >&2; exit 3`;

const LOOP_END = /✓ write done: 5 items in [\d.]+ s$/;

/** Times are not the same twice; neither is whether a rate is known yet. */
function mask(line: string): string {
  return line
    .replaceAll(/\d\d:\d\d:\d\d/g, "hh:mm:ss")
    .replaceAll(/ · [\d.]+\/(?:s|min)(?: · [^·]* left)?/g, "")
    .replaceAll(/\b\d+(?:\.\d)? s\b/g, "N s");
}

describe.skipIf(NO_TERMINAL !== undefined)("[first-use point 4] the screens of a run", () => {
  it.each([80, 100, 140])("are as they are kept, at %d columns", async (columns) => {
    const place = openPlace();
    place.write("letters.yaml", WORKFLOW);
    place.write("write.sh", WRITE);
    place.write("publish.sh", PUBLISH);
    hold(place, "rest");
    const run = new TerminalRun(place, ["run", "letters.yaml", "--task", "may"], { columns, rows: 40 });
    const working = await run.shows(/attempt 2 in[\s\S]*2 of 5[\s\S]*letter\[3\][\s\S]*saved/);
    // The order of what is done at the same time is nobody's.
    await run.shows("publish done");
    release(place, "rest");
    const asked = await run.shows("later: leave the question open");
    run.press("\r");
    expect((await run.done).code).toBe(4);
    const ended = await run.lines();
    for (const line of [...working, ...asked, ...ended]) expect(countColumns(line), line).toBeLessThanOrEqual(columns);
    // The end of the loop opens the gate: whether its line stands above the prompt or below it is not settled.
    expect(ended.filter((line) => LOOP_END.test(line))).toHaveLength(1);
    const screens = [working, asked, ended].map((lines) =>
      lines
        .filter((line) => !LOOP_END.test(line))
        .map(mask)
        .join("\n"),
    );
    const text = `${screens.join(`\n${"=".repeat(columns)}\n`)}\n`;
    const kept = join(PROJECT_FOLDER, `test/golden/screens/${columns}.txt`);
    if (process.env["SPLASHDOWN_PAGES"] === "write") writeFileSync(kept, text);
    expect(text).toBe(readFileSync(kept, "utf8"));
  });
});
