/**
 * The specialist `author`: writes the report from the outputs of the others, and nothing else.
 *
 * R1: the same outputs give the same bytes: no clock, no random number, everything sorted.
 * R2: every number comes from an output; an output that is missing is named as missing.
 *
 * Confidence: each part is the share of expected outputs that arrived.
 */
import { formatPath, toByteString } from "../lib/byte-paths.mjs";
import { share } from "../lib/figures.mjs";
import { selectFindings } from "../lib/findings.mjs";
import { compareText } from "../lib/lists.mjs";
import { escapeText, formatCode, joinParts } from "../lib/markdown.mjs";
import * as sections from "../lib/sections.mjs";
import { resolveRoot } from "../lib/walk.mjs";

const EXPECTED = ["inventory", "dependencies", "secrets", "duplicates", "hotspots", "churn"];

export default function report({ folder: given, outputs: all, confidence = null, evaluations = [], decisions = [] }) {
  const present = EXPECTED.filter((name) => all[name]);
  const absent = EXPECTED.filter((name) => !all[name]);
  const closer = mergeCloserLooks(all);
  const outputs = { ...Object.fromEntries(present.map((name) => [name, all[name]])), ...(closer && { closer }) };
  const folder = nameFolder(given);
  const findings = selectFindings(outputs);
  const markdown = joinParts([
    `# Code audit of ${formatCode(folder)}`,
    sections.writeLead(outputs),
    "## Summary",
    sections.writeFindings(findings),
    absent.length === 0 ? "" : `**Incomplete:** nothing was delivered by ${escapeText(absent.join(", "))}.`,
    sections.writeConfidence(outputs, confidence),
    sections.writeSecrets(outputs),
    sections.writeDependencies(outputs),
    sections.writeHotspots(outputs),
    sections.writeDuplicates(outputs),
    sections.writeChurn(outputs),
    sections.writeInventory(outputs),
    sections.writeCloserLook(outputs),
    sections.writeOrigin(evaluations, decisions),
  ]);
  const complete = share(present.length, EXPECTED.length);
  const excerpts = Object.fromEntries([...EXPECTED, "closer"].map((name) => [name, excerpt(name, outputs[name])]));
  return {
    output: {
      markdown: `${markdown}\n`,
      report: { folder, findings, absent, ...excerpts, confidence, evaluations },
      findings: findings.length,
    },
    confidence: { knowledge: complete, information: complete, implementation: complete, validation: complete },
    factors: [`${present.length} of ${EXPECTED.length} specialists delivered`],
    assumptions: ["the outputs of the specialists are true; the evaluation checked them"],
  };
}

/** Atlas may launch the closer look more than once (`closer-look-2` …); a path is shown once for each kind of doubt. */
function mergeCloserLooks(outputs) {
  const looks = Object.keys(outputs)
    .filter((name) => /^closer[-_]look/.test(name) && outputs[name])
    .sort(compareText);
  if (looks.length === 0) return undefined;
  const items = new Map(
    looks.flatMap((name) => outputs[name].items.map((item) => [`${item.kind} ${item.path}`, item])),
  );
  const kinds = new Map(looks.flatMap((name) => outputs[name].kinds.map((kind) => [kind.kind, kind])));
  return { examined: items.size, kinds: [...kinds.values()], items: [...items.values()] };
}

/** What the machine's version takes from an output: its numbers; lists of every declared package and walked folder stay out. */
function excerpt(name, output) {
  if (output === undefined) return null;
  const { walked: _walked, largest_files: _largest, longest_sources: _longest, ...rest } = output;
  if (name === "inventory") return { ...rest, skipped: output.walked.skipped_by_name };
  if (name === "dependencies") return { ...rest, declared: { ...rest.declared, items: undefined } };
  return rest;
}

/** The audited folder by its full name; as it was given when it is not there any more. */
function nameFolder(given) {
  try {
    return formatPath(resolveRoot(given));
  } catch {
    return formatPath(toByteString(given));
  }
}
