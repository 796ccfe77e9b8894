/**
 * Owns what a secret looks like: patterns with a fixed shape, and assignments whose value looks random.
 *
 * Every repetition is bounded, so that no text makes the search slow.
 *
 * X1: no value ever leaves this module: a finding carries a fingerprint, and `redactSecrets` replaces values in text
 *     that other modules quote.
 * X2: a fingerprint is 8 hex digits of SHA-256 for keys with enough randomness, and 4 for assignments, which may be
 *     passwords of people: enough to see the same value twice, too little to test guesses against.
 */
import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";

const specific = (kind, source) => ({ kind, pattern: new RegExp(source, "g"), isSpecific: true });

/** Patterns with a fixed shape; the value is group 1, or the whole match. */
export const SPECIFIC_PATTERNS = [
  specific("private key (PEM)", "-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
  specific("AWS access key id", "\\b((?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16})(?![0-9A-Za-z])"),
  specific("GitHub token", "\\b(gh[pousr]_[0-9A-Za-z]{36,255})"),
  specific("GitHub fine-grained token", "\\b(github_pat_[0-9A-Za-z_]{60,255})"),
  specific("GitLab token", "\\b(gl(?:pat|ptt|rt|dt|cbt)-[0-9A-Za-z_-]{20,64})"),
  specific("Slack token", "\\b(xox[abeoprs]-[0-9A-Za-z-]{12,255})"),
  specific("Slack webhook", "hooks\\.slack\\.com/services/(T[0-9A-Z]{8,12}/B[0-9A-Z]{8,12}/[0-9A-Za-z]{20,30})"),
  specific("Google API key", "\\b(AIza[0-9A-Za-z_-]{35})(?![0-9A-Za-z_-])"),
  specific("npm token", "\\b(npm_[0-9A-Za-z]{36})(?![0-9A-Za-z])"),
  specific("npm auth token in settings", "_authToken\\s*=\\s*([0-9A-Za-z_-]{20,255})"),
  specific("Stripe key", "\\b([rs]k_live_[0-9A-Za-z]{16,255})"),
  specific("model provider key (sk-)", "\\b(sk-(?:ant-|proj-|or-)?[0-9A-Za-z_-]{32,255})"),
  specific("SendGrid key", "\\b(SG\\.[0-9A-Za-z_-]{22}\\.[0-9A-Za-z_-]{43})"),
  specific("PyPI token", "\\b(pypi-AgEI[0-9A-Za-z_-]{50,255})"),
  specific("JSON Web Token", "\\b(eyJ[0-9A-Za-z_-]{10,1000}\\.eyJ[0-9A-Za-z_-]{10,2000}\\.[0-9A-Za-z_-]{16,1000})"),
  specific(
    "password in a URL",
    "\\b[a-z][a-z0-9+.-]{1,20}://[^\\s:/@\"'`<>{}$]{1,60}:([^\\s:/@\"'`<>{}$]{4,100})@[\\w.-]+",
  ),
];

const SECRET_NAME =
  "(?:[pP]assw(?:or)?d|PASSW(?:OR)?D|[sS]ecret|SECRET|[tT]oken|TOKEN|[aA]pi[_-]?[kK]ey|API_?KEY|[aA]ccess[_-]?[kK]ey|ACCESS_?KEY|[pP]rivate[_-]?[kK]ey|PRIVATE_?KEY|[cC]redential|CREDENTIAL)";
const QUOTED_ASSIGNMENT = new RegExp(
  `${SECRET_NAME}[\\w-]{0,30}["'\`]?\\]?\\s{0,8}(?::|=>|:?=)\\s{0,8}["'\`]([^"'\`\\s]{8,256})["'\`]`,
  "g",
);
const BARE_ASSIGNMENT = new RegExp(
  `^[ \\t]*(?:export[ \\t]+)?[\\w.-]{0,60}${SECRET_NAME}[\\w.-]{0,30}[ \\t]*[=:][ \\t]*([^\\s"'\`#]{8,256})[ \\t]*\\r?$`,
  "gm",
);

const PLACEHOLDER =
  /example|sample|dummy|fake|changeme|change[_-]me|placeholder|your[_-]|my[_-]?(?:secret|token|password|key)|x{4,}|\*{3,}|\.{3}|<[^>]+>|\$\{|\{\{|%[({]|process\.env|os\.environ|getenv|not[_-]?(?:a|the)[_-]?(?:real|secret)|redacted|todo|lorem|foobar|123456|abcdef|deadbeef|secret|password|undefined|null/i;
const LOOKS_LIKE_CODE =
  /^[a-zA-Z_$][\w$]*(?:[.([]|::|->)|^[@#./~]|^[a-z]+:\/\/|^[A-Z][a-z]+(?:[A-Z][a-z]+)+$|^[a-z]+(?:[-_.:/ ][a-z]+)+$|^[a-z]+(?:[A-Z][a-z]+)*$|^[A-Z]+(?:_[A-Z]+)*$|[\\<>()[\]{};]|\|\|/;
const ENTROPY_MIN = 3.2;

/**
 * Finds secrets in a piece of text.
 *
 * Shape: `{kind, index, fingerprint, isSpecific, isPlaceholder}` in order of `index`; never the value.
 * @param {string} text latin1
 * @param {boolean} allowBare also unquoted `KEY=value` lines, for settings files
 */
export function findSecrets(text, allowBare) {
  const found = [];
  for (const match of matchSecrets(text, allowBare)) {
    const { kind, index, value, isSpecific } = match;
    found.push({
      kind,
      index,
      fingerprint: computeFingerprint(value, isSpecific),
      isSpecific,
      isPlaceholder: isSpecific && PLACEHOLDER.test(value),
    });
  }
  return found.sort((a, b) => a.index - b.index || (a.kind < b.kind ? -1 : 1));
}

function* matchSecrets(text, allowBare) {
  const taken = new Set();
  for (const { kind, pattern } of SPECIFIC_PATTERNS) {
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      const value = match[1] ?? match[0];
      if (kind !== "private key (PEM)" && isMonotonous(value)) continue;
      const index = match.index + match[0].indexOf(value);
      taken.add(index);
      yield { kind, index, value, isSpecific: true };
    }
  }
  for (const pattern of allowBare ? [QUOTED_ASSIGNMENT, BARE_ASSIGNMENT] : [QUOTED_ASSIGNMENT]) {
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      const value = match[1];
      const index = match.index + match[0].lastIndexOf(value);
      if (taken.has(index) || !isRandomLooking(value)) continue;
      taken.add(index);
      yield { kind: "assignment of a random-looking value", index, value, isSpecific: false };
    }
  }
}

/** Whether an assigned value looks like a key or a password rather than like a word, a path or code; it has a digit. */
export function isRandomLooking(value) {
  if (PLACEHOLDER.test(value) || LOOKS_LIKE_CODE.test(value) || isMonotonous(value)) return false;
  if (!/[0-9]/.test(value)) return false;
  const classes = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^a-zA-Z0-9]/].filter((pattern) => pattern.test(value)).length;
  if (/^[0-9.,:-]+$/.test(value) || classes < 2) return false;
  return computeEntropy(value) >= ENTROPY_MIN || (classes >= 3 && value.length >= 10 && computeEntropy(value) >= 2.8);
}

function isMonotonous(value) {
  return new Set(value).size < Math.min(6, value.length / 2);
}

/** Shannon entropy in bits per character. */
export function computeEntropy(value) {
  const counts = new Map();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

/** A short fingerprint of a value (X2). */
export function computeFingerprint(value, isSpecific) {
  const digest = createHash("sha256").update(Buffer.from(value, "latin1")).digest("hex");
  return digest.slice(0, isSpecific ? 8 : 4);
}

/** The text with every suspected secret, and every long random-looking run, replaced (X1). */
export function redactSecrets(text) {
  let clean = text;
  for (const { value } of matchSecrets(text, true)) clean = clean.split(value).join("[redacted]");
  return clean.replace(/[A-Za-z0-9+/_=-]{20,}/g, (run) =>
    /[0-9]/.test(run) && /[A-Za-z]/.test(run) && computeEntropy(run) >= 3.5 ? "[redacted]" : run,
  );
}
