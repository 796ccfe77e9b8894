// What the bench found, as lines of text and as the table of docs/benchmarks.md. Pure but for the place of the kept results.
import { join } from "node:path";

/** What that table is made from. */
export const RESULTS = join(import.meta.dirname, "results.json");

const BEGIN = "<!-- bench: made by `npm run proof -- bench --readme` -->";
const END = "<!-- /bench -->";
const STEP = "durable step, sealed";

export function formatLine({ name, value, beside, ratio, bound, met }) {
  return `${met ? "met " : "OVER"} ${name.padEnd(52)} ${value}; ${beside}; ${ratio.toFixed(2)} of ${bound}`;
}

/** Each peer as a multiple of us, or why it was not measured. */
export function describePeers({ results, peers }) {
  const ours = results.find(({ name }) => name === STEP);
  const bytes = results.find(({ name }) => name.startsWith("bytes of 1000 steps"));
  return peers.map(({ name, stepMs, onDisk, skipped }) => {
    if (skipped !== undefined) return `${name}: skipped, ${skipped}`;
    const onDiskText =
      onDisk === undefined
        ? ""
        : `; 1,000 steps × 1 KB take ${(onDisk / 1e6).toFixed(0)} MB on disk, ${(onDisk / bytes.figure).toFixed(0)}× ours`;
    return `${name}: ${stepMs.toFixed(2)} ms a step, ${(stepMs / ours.figure).toFixed(1)}× ours${onDiskText}`;
  });
}

export function describeMachine({ at, machine }) {
  const { node, cores, model, load } = machine;
  return `Measured ${at} with Node ${node} on ${cores} cores (${model}), load ${load.toFixed(1)} at the beginning.`;
}

/** The table between its marks. */
export function formatTable(found) {
  const rows = found.results.map(
    ({ name, value, beside, ratio, bound, met }) =>
      `| ${name} | ${value} | ${beside} | ${ratio.toFixed(2)} of ${bound}${met ? "" : ", **over**"} |`,
  );
  return [
    BEGIN,
    "",
    describeMachine(found),
    "",
    "| measure | here | beside | of the bound |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
    ...describePeers(found).map((line) => `- ${line}`),
    "",
    END,
  ].join("\n");
}

/** The text with the table in it. Errors: where the text has no marks. */
export function writeTable(text, found) {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error("the page has no place for the results of the bench");
  return text.slice(0, from) + formatTable(found) + text.slice(to + END.length);
}
