#!/usr/bin/env node
/**
 * A scorer (dimension `quality`): do the outputs agree with each other, and did everyone look at everything?
 *
 * Starts from 100. A missing output costs 25, numbers that contradict each other 15, a specialist that left out files
 * because of its first-pass limit 20. The last is repairable: the feedback says so in the words that the specialist
 * looks for, and the next iteration looks at every file.
 */
import { formatCount, formatPercent } from "../lib/confidence.mjs";
import { runTool } from "../lib/protocol.mjs";
import { coverageFeedback } from "../lib/sampling.mjs";

const EXPECTED = ["inventory", "dependencies", "secrets", "duplicates", "hotspots", "churn"];
const SAMPLING = ["duplicates", "hotspots"];
const COVERAGE_MIN = 0.98;
const COST = { missing: 25, contradiction: 15, coverage: 20 };

function checkPresence(outputs) {
  return EXPECTED.filter((name) => !outputs[name]).map((name) => ({
    cost: COST.missing,
    text: `the output of ${name} is missing`,
    severity: "high",
    where: name,
  }));
}

/** Every pair of numbers that must be equal, `{what, left, right, where}`; absent numbers are not compared. */
function listEquations(outputs) {
  const equations = [...equateWalks(outputs), ...equateInventory(outputs), ...equateHotspots(outputs)];
  equations.push(...equateDependencies(outputs), ...equateSecrets(outputs));
  return equations.filter(({ left, right }) => left !== undefined && right !== undefined);
}

function equateWalks({ inventory, secrets, duplicates, hotspots, dependencies }) {
  return Object.entries({ secrets, duplicates, hotspots, dependencies }).flatMap(([where, output]) => [
    {
      what: `files walked by inventory and ${where}`,
      left: inventory?.walked.files,
      right: output?.walked.files,
      where,
    },
    {
      what: `symbolic links seen by inventory and ${where}`,
      where,
      left: inventory?.walked.symlinks.total,
      right: output?.walked.symlinks.total,
    },
  ]);
}

function equateInventory({ inventory }) {
  if (!inventory) return [];
  const { totals, classes, languages, walked } = inventory;
  const sum = (list, key) => list.reduce((total, entry) => total + entry[key], 0);
  const all = Object.values(classes);
  const where = "inventory";
  return [
    { what: "sum of the classes and the files walked", left: sum(all, "files"), right: walked.files, where },
    { what: "bytes of the classes and in total", left: sum(all, "bytes"), right: totals.bytes, where },
    {
      what: "files of the languages and of the classes source and text",
      left: sum(languages, "files"),
      right: classes.source.files + classes.text.files,
      where,
    },
    {
      what: "lines of code, comment and blank and all lines",
      left: sum(languages, "code") + sum(languages, "comment") + sum(languages, "blank"),
      right: totals.lines,
      where,
    },
  ];
}

function equateHotspots({ inventory, hotspots }) {
  if (!hotspots) return [];
  const { TODO, FIXME, HACK, XXX, total } = hotspots.markers;
  const sources = inventory?.classes.source.files ?? hotspots.coverage.eligible;
  return [
    { what: "sum of the markers and their total", left: TODO + FIXME + HACK + XXX, right: total, where: "hotspots" },
    {
      what: "source files met by hotspots beyond those of inventory, and none,",
      left: Math.max(0, hotspots.coverage.eligible - sources),
      right: 0,
      where: "hotspots",
    },
  ];
}

function equateDependencies({ dependencies }) {
  if (!dependencies) return [];
  const { by_group: groups, counted } = dependencies.licences;
  const left = groups.reduce((sum, { packages }) => sum + packages, 0);
  return [{ what: "sum of the licence groups and the packages counted", left, right: counted, where: "dependencies" }];
}

function equateSecrets({ secrets }) {
  if (!secrets) return [];
  const left = Object.values(secrets.kinds).reduce((sum, { likely, doubtful }) => sum + likely + doubtful, 0);
  return [
    {
      what: "sum of the kinds of secrets and the findings",
      left,
      right: secrets.likely.total + secrets.doubtful.total,
      where: "secrets",
    },
  ];
}

function checkCoverage(outputs) {
  return SAMPLING.filter(
    (name) =>
      outputs[name]?.coverage && outputs[name].coverage.share < COVERAGE_MIN && outputs[name].coverage.limit !== null,
  ).map((name) => {
    const { examined, eligible, share } = outputs[name].coverage;
    return {
      cost: COST.coverage,
      severity: "medium",
      where: name,
      text: `coverage of ${name} is ${formatPercent(share)}: ${formatCount(examined)} of ${formatCount(eligible)} files`,
      feedback: `${coverageFeedback(name)} (coverage ${formatPercent(share)})`,
    };
  });
}

await runTool((request) => {
  const { outputs } = request;
  const equations = listEquations(outputs);
  const broken = equations
    .filter(({ left, right }) => left !== right)
    .map(({ what, left, right, where }) => ({
      cost: COST.contradiction,
      severity: "high",
      where,
      text: `${what} differ: ${left} and ${right}`,
    }));
  const issues = [...checkPresence(outputs), ...broken, ...checkCoverage(outputs)];
  return {
    score: Math.max(0, 100 - issues.reduce((sum, { cost }) => sum + cost, 0)),
    issues: issues.map(({ text, severity, where }) => ({ text, severity, where })),
    feedback: issues.map(({ feedback, text }) => feedback ?? text).join("; "),
    evidence: `${equations.length} pairs of numbers compared, ${broken.length} differ; ${EXPECTED.length} outputs expected; coverage of ${SAMPLING.join(" and ")} checked`,
  };
});
