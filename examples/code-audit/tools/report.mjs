#!/usr/bin/env node
/**
 * The specialist `author`: writes the report from the outputs of the others, and nothing else.
 *
 * R1: the same outputs give the same bytes: no clock, no random number, everything sorted.
 * R2: every number comes from an output; an output that is missing is named as missing.
 *
 * Confidence: each part is the share of expected outputs that arrived.
 */
import { compareText } from "../lib/bounded-lists.mjs";
import { formatPath, toByteString } from "../lib/byte-paths.mjs";
import { share } from "../lib/confidence.mjs";
import { selectFindings } from "../lib/findings.mjs";
import { escapeText, joinParts } from "../lib/markdown.mjs";
import { requestedFolder, runTool } from "../lib/protocol.mjs";
import { writeConfidence, writeLimits, writeOrigin, writeSummary } from "../lib/report-frame.mjs";
import { writeDependencies } from "../lib/report-dependencies.mjs";
import {
  writeChurn,
  writeCloserLook,
  writeDuplicates,
  writeHotspots,
  writeInventory,
  writeSecrets,
} from "../lib/report-sections.mjs";
import { resolveRoot } from "../lib/walk.mjs";

const EXPECTED = ["inventory", "dependencies", "secrets", "duplicates", "hotspots", "churn"];

function selectOutputs(outputs) {
  const chosen = Object.fromEntries(EXPECTED.filter((name) => outputs[name]).map((name) => [name, outputs[name]]));
  const closer = mergeCloserLooks(outputs);
  return closer ? { ...chosen, closer } : chosen;
}

/** Atlas may launch the closer look more than once (`closer-look-2` …); a path is shown once for each kind of doubt. */
function mergeCloserLooks(outputs) {
  const names = Object.keys(outputs).filter((name) => /^closer[-_]look/.test(name) && outputs[name]);
  if (names.length < 2) return outputs[names[0]];
  const items = new Map();
  const kinds = new Map();
  for (const name of names.sort(compareText)) {
    for (const item of outputs[name].items) items.set(`${item.kind} ${item.path}`, item);
    for (const kind of outputs[name].kinds) if (!kinds.has(kind.kind)) kinds.set(kind.kind, kind);
  }
  return { examined: items.size, kinds: [...kinds.values()], items: [...items.values()] };
}

function writeMarkdown({ folder, findings, outputs, request }) {
  const absent = EXPECTED.filter((name) => !outputs[name]);
  return `${joinParts([
    writeSummary(folder, findings),
    absent.length === 0 ? "" : `**Incomplete:** nothing was delivered by ${escapeText(absent.join(", "))}.`,
    writeConfidence(outputs, request.confidence),
    writeLimits(outputs),
    writeInventory(outputs),
    writeDependencies(outputs),
    writeSecrets(outputs),
    writeDuplicates(outputs),
    writeHotspots(outputs),
    writeChurn(outputs),
    writeCloserLook(outputs),
    writeOrigin(request.evaluations ?? [], request.decisions ?? []),
  ])}\n`;
}

/** What the machine's version takes from each output; a specialist that delivered nothing leaves `null`. */
const EXCERPTS = {
  inventory: ({ totals, classes, languages, understood, set_apart, walked }) => ({
    totals,
    classes,
    languages,
    understood,
    set_apart,
    skipped: walked.skipped_by_name,
  }),
  dependencies: ({ mode, manifests, declared, installed, licences, install_scripts }) => ({
    mode,
    manifests,
    licences,
    install_scripts,
    installed,
    declared: { total: declared.total, loose: declared.loose },
  }),
  secrets: ({ likely, doubtful, kinds, searched }) => ({
    likely,
    doubtful: { total: doubtful.total },
    kinds,
    searched,
  }),
  duplicates: ({ coverage, lines, blocks, identical_files: identical }) => ({
    coverage,
    lines,
    blocks: blocks.total,
    identical_files: identical.files,
  }),
  hotspots: ({ coverage, functions, markers: { places: _places, ...markers } }) => ({ coverage, functions, markers }),
  churn: (churn) => churn,
  closer: ({ examined, kinds, items }) => ({ examined, kinds, items }),
};

/** The machine's version: the findings and the numbers behind them. */
function writeReport({ folder, findings, outputs, request }) {
  const excerpts = Object.entries(EXCERPTS).map(([name, take]) => [name, outputs[name] ? take(outputs[name]) : null]);
  return {
    folder,
    findings,
    absent: EXPECTED.filter((name) => !outputs[name]),
    ...Object.fromEntries(excerpts),
    confidence: request.confidence ?? null,
    evaluations: request.evaluations ?? [],
  };
}

/** The audited folder by its full name; as it was given when it is not there any more. */
function nameFolder(given) {
  try {
    return formatPath(resolveRoot(given));
  } catch {
    return formatPath(toByteString(given));
  }
}

await runTool((request) => {
  const outputs = selectOutputs(request.outputs);
  const folder = nameFolder(requestedFolder(request));
  const findings = selectFindings(outputs);
  const complete = share(EXPECTED.filter((name) => outputs[name]).length, EXPECTED.length);
  return {
    output: {
      markdown: writeMarkdown({ folder, findings, outputs, request }),
      report: writeReport({ folder, findings, outputs, request }),
      findings: findings.length,
    },
    confidence: { knowledge: complete, information: complete, implementation: complete, validation: complete },
    factors: [`${EXPECTED.filter((name) => outputs[name]).length} of ${EXPECTED.length} specialists delivered`],
    uncertainties: [],
    blockers: [],
    assumptions: ["the outputs of the specialists are true; the evaluation checked them"],
  };
});
