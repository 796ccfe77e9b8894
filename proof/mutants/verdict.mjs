/** What became of the mutants of a report of Stryker's: by file, and which of them nobody noticed. */

/**
 * An entry of equivalent.json is a mutant that changes nothing which could be noticed: the trimmed line it stands in, what
 * was there, what stands there instead, and why that makes no difference.
 */
const isSame = (entry, mutant) =>
  entry.file === mutant.file && entry.line === mutant.line && entry.was === mutant.was && entry.is === mutant.is;

/** Shape: rows of `{ file, noticed, unnoticed: [{ file, at, line, was, is, status }], equivalent }`, and entries that fit no mutant. */
export function judgeMutants(report, equivalents) {
  const used = new Set();
  const rows = Object.entries(report.files).map(([file, { source, mutants }]) => {
    const row = { file, noticed: 0, equivalent: 0, unnoticed: [] };
    for (const mutant of mutants) {
      const told = describe(file, source, mutant);
      const entry = equivalents.find((candidate) => isSame(candidate, told));
      if (entry !== undefined) used.add(entry);
      if (isNoticed(mutant)) row.noticed += 1;
      else if (!isJudged(mutant)) continue;
      else if (entry !== undefined) row.equivalent += 1;
      else row.unnoticed.push(told);
    }
    return row;
  });
  const files = new Set(Object.keys(report.files));
  return { rows, stale: equivalents.filter((entry) => files.has(entry.file) && !used.has(entry)) };
}

const isNoticed = ({ status }) => status === "Killed" || status === "Timeout";
/** What does not even load, or was left out, says nothing about the tests. */
const isJudged = ({ status }) => status === "Survived" || status === "NoCoverage";

function describe(file, source, { location: { start, end }, replacement, status }) {
  const lines = source.split("\n");
  const cut = lines.slice(start.line - 1, end.line);
  cut[cut.length - 1] = cut.at(-1).slice(0, end.column - 1);
  cut[0] = cut[0].slice(start.column - 1);
  const flat = (text) => text.replace(/\s+/g, " ").trim();
  return {
    file,
    at: `${start.line}:${start.column}`,
    line: lines[start.line - 1].trim(),
    was: flat(cut.join("\n")),
    is: flat(replacement ?? ""),
    status,
  };
}

/** The share that was noticed of all that could be, 0..1; 1 where nothing could be. */
export function scoreOf(rows) {
  const noticed = rows.reduce((sum, row) => sum + row.noticed, 0);
  const unnoticed = rows.reduce((sum, row) => sum + row.unnoticed.length, 0);
  return noticed + unnoticed === 0 ? 1 : noticed / (noticed + unnoticed);
}
