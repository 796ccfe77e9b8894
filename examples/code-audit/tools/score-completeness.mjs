/**
 * A scorer (dimension `quality`): do the outputs agree with each other, and did everyone look at everything?
 *
 * Starts from 100. A missing output costs 25, numbers that contradict each other 15, a specialist that left out files
 * because of its first-pass limit 20. The last is repairable: the feedback says so in the words that the specialist
 * looks for, and the next iteration looks at every file.
 */
import { count, formatCount, formatPercent } from "../lib/figures.mjs";
import { coverageFeedback } from "../lib/survey.mjs";

const EXPECTED = ["inventory", "dependencies", "secrets", "duplicates", "hotspots", "churn"];
const COVERAGE_MIN = 0.98;
const COST = { missing: 25, contradiction: 15, coverage: 20 };

export default function scoreCompleteness({ outputs }) {
  const missing = EXPECTED.filter((name) => !outputs[name]);
  const pairs = listPairs(outputs).filter(([, , left, right]) => !isUnknown(left, right));
  const broken = pairs.filter(([, , left, right]) => left !== right);
  const issues = [
    ...missing.map((where) => ({
      where,
      severity: "high",
      cost: COST.missing,
      text: `the output of ${where} is missing`,
    })),
    ...broken.map(([where, what, left, right]) => {
      return { where, severity: "high", cost: COST.contradiction, text: `${what} differ: ${left} and ${right}` };
    }),
    ...checkCoverage(outputs),
  ];
  return {
    score: Math.max(0, 100 - issues.reduce((sum, { cost }) => sum + cost, 0)),
    issues: issues.map(({ text, severity, where }) => ({ text, severity, where })),
    feedback: issues.map(({ feedback, text }) => feedback ?? text).join("; "),
    evidence: `${count(pairs.length, "pair")} of numbers compared, ${broken.length} differ; ${count(missing.length, "output")} missing`,
  };
}

const isUnknown = (left, right) => left === undefined || right === undefined;
const sum = (list, ...keys) => keys.reduce((total, key) => list.reduce((part, entry) => part + entry[key], total), 0);

/** Pairs of numbers that must be equal, of the outputs that are there: `[where, what, left, right]`. */
function listPairs({ inventory, hotspots, dependencies, secrets, duplicates }) {
  const pairs = Object.entries({ secrets, duplicates, hotspots, dependencies }).map(([where, output]) => {
    return [where, `files walked by inventory and ${where}`, inventory?.walked.files, output?.walked.files];
  });
  if (inventory) {
    const { totals, classes, languages } = inventory;
    const all = Object.values(classes);
    pairs.push(["inventory", "files of the classes and in total", sum(all, "files"), totals.files]);
    pairs.push(["inventory", "bytes of the classes and in total", sum(all, "bytes"), totals.bytes]);
    pairs.push([
      "inventory",
      "lines of each kind and in total",
      sum(languages, "code", "comment", "blank"),
      totals.lines,
    ]);
  }
  if (hotspots) {
    const { TODO, FIXME, HACK, XXX, total } = hotspots.markers;
    pairs.push(["hotspots", "markers of each kind and in total", TODO + FIXME + HACK + XXX, total]);
  }
  if (secrets) {
    const found = secrets.likely.total + secrets.doubtful.total;
    pairs.push([
      "secrets",
      "of each kind and in total",
      sum(Object.values(secrets.kinds), "likely", "doubtful"),
      found,
    ]);
  }
  if (dependencies) {
    const { by_group: groups, counted } = dependencies.licences;
    pairs.push(["dependencies", "packages of the licence groups and in total", sum(groups, "packages"), counted]);
  }
  return pairs;
}

function checkCoverage({ duplicates, hotspots }) {
  return Object.entries({ duplicates, hotspots })
    .filter(([, output]) => output?.coverage.limit && output.coverage.share < COVERAGE_MIN)
    .map(([where, { coverage }]) => {
      const { share, examined, eligible } = coverage;
      const text = `coverage of ${where} is ${formatPercent(share)}: ${formatCount(examined)} of ${count(eligible, "file")}`;
      const feedback = `${coverageFeedback(where)} (coverage ${formatPercent(share)})`;
      return { where, severity: "medium", cost: COST.coverage, text, feedback };
    });
}
