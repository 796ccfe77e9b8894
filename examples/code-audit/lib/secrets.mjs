/**
 * What a secret looks like: patterns with a fixed shape, private keys, and assignments whose value looks random.
 *
 * Samples of documentation (`AKIA…EXAMPLE`, rows of x, the token of a manual, a password for example.com) are no secrets.
 * Every repetition is bounded, so that no text makes the search slow.
 *
 * X1: no value ever leaves this module: a finding carries a fingerprint, and `redactSecrets` replaces values in text
 *     that other modules quote.
 * X2: a fingerprint is the start of a SHA-256: 8 hex digits for keys with enough randomness, 4 for assignments, which may
 *     be passwords of people. That of a private key is of its decoded body, so that it is the same however it is wrapped.
 */
import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";

const PEM_BEGIN = /-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?)-----/g;
const PEM_BYTES_MAX = 20_000;
const PEM_BASE64 = /^[A-Za-z0-9+/]{54,}={0,2}$/;
const PEM_ENTROPY_MIN = 4.5;
const LINE_START = /^\s*(?:(?:\/\/|#|\*|>)\s+)?(?:\+?\s*["'`])?\s*/;

/** The value is group 1. */
const SPECIFIC = [
  ["AWS access key id", /\b((?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16})(?![0-9A-Za-z])/g],
  ["GitHub token", /\b(gh[pousr]_[0-9A-Za-z]{36,255})/g],
  ["GitHub fine-grained token", /\b(github_pat_[0-9A-Za-z_]{60,255})/g],
  ["GitLab token", /\b(gl(?:pat|ptt|rt|dt|cbt)-[0-9A-Za-z_-]{20,64})/g],
  ["Slack token", /\b(xox[abeoprs]-[0-9A-Za-z-]{12,255})/g],
  ["Slack webhook", /hooks\.slack\.com\/services\/(T[0-9A-Z]{8,12}\/B[0-9A-Z]{8,12}\/[0-9A-Za-z]{20,30})/g],
  ["Google API key", /\b(AIza[0-9A-Za-z_-]{35})(?![0-9A-Za-z_-])/g],
  ["npm token", /\b(npm_[0-9A-Za-z]{36})(?![0-9A-Za-z])/g],
  ["npm auth token in settings", /_authToken\s{0,8}=\s{0,8}([0-9A-Za-z_-]{20,255})/g],
  ["Stripe key", /\b([rs]k_live_[0-9A-Za-z]{16,255})/g],
  ["model provider key (sk-)", /\b(sk-(?:ant-|proj-|or-)?[0-9A-Za-z_-]{32,255})/g],
  ["SendGrid key", /\b(SG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{43})/g],
  ["PyPI token", /\b(pypi-AgEI[0-9A-Za-z_-]{50,255})/g],
  ["JSON Web Token", /\b(eyJ[0-9A-Za-z_-]{10,1000}\.eyJ[0-9A-Za-z_-]{10,2000}\.[0-9A-Za-z_-]{16,1000})/g],
  ["password in a URL", /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'`<>{}$]{1,60}:([^\s:/@"'`<>{}$]{4,100})@[\w.-]{1,200}/g],
];

const SECRET_NAME =
  "(?:[pP]assw(?:or)?d|PASSW(?:OR)?D|[sS]ecret|SECRET|[tT]oken|TOKEN|[aA]pi[_-]?[kK]ey|API_?KEY|[aA]ccess[_-]?[kK]ey|ACCESS_?KEY|[pP]rivate[_-]?[kK]ey|PRIVATE_?KEY|[cC]redential|CREDENTIAL)";
const QUOTED = `${SECRET_NAME}[\\w-]{0,30}["'\`]?\\]?\\s{0,8}(?::|=>|:?=)\\s{0,8}["'\`]([^"'\`\\s]{8,256})["'\`]`;
const BARE = `^[ \\t]*(?:export[ \\t]+)?[\\w.-]{0,60}${SECRET_NAME}[\\w.-]{0,30}[ \\t]*[=:][ \\t]*([^\\s"'\`#]{8,256})[ \\t]*\\r?$`;
const ASSIGNMENTS = [new RegExp(QUOTED, "g"), new RegExp(BARE, "gm")];
const SETTINGS_NAME =
  /(?:^|\/)(?:\.env[^/]*|[^/]*\.(?:env|ini|cfg|conf|properties|toml|npmrc|ya?ml|sh|tfvars)|\.npmrc|\.pypirc|\.netrc|credentials)$/i;

const SAMPLE =
  /example|sample|dummy|fake|changeme|change[_-]me|placeholder|your[_-]|my[_-]?(?:secret|token|password|key)|x{4,}|\*{3,}|\.{3}|<[^>]+>|\$\{|\{\{|%[({]|^%[A-Za-z]|process\.env|os\.environ|getenv|not[_-]?(?:a|the)[_-]?(?:real|secret)|redacted|todo|lorem|foobar|123456|abcdef|deadbeef|secret|password|undefined|null/i;
const SAMPLE_PASSWORD =
  /^(?:pass(?:wd|phrase)?|pwd|user(?:name)?|admin|root|postgres|mysql|test(?:ing|er)?|token|guest|hunter2|qwerty)\d*$/i;
const SAMPLE_HOST =
  /@(?:[\w-]+\.)*(?:example(?:\.(?:com|org|net))?|test|invalid|(?:host(?:name)?|domain|server)(?:\.com)?)$/i;
const SAMPLE_CLAIMS = /1234567890|John Doe|example\.(?:com|org|net)/i;
const LOOKS_LIKE_CODE =
  /^[a-zA-Z_$][\w$]*(?:[.([]|::|->)|^[@#./~]|^[a-z]+:\/\/|^[A-Z][a-z]+(?:[A-Z][a-z]+)+$|^[a-z]+(?:[-_.:/ ][a-z]+)+$|^[a-z]+(?:[A-Z][a-z]+)*$|^[A-Z]+(?:_[A-Z]+)*$|[\\<>()[\]{};]|\|\|/;
const ENTROPY_MIN = 3.2;

/** Searches an open file: `{line, kind, fingerprint, isSpecific}` in order, each once a line. */
export function searchFile(file) {
  const found = new Map();
  const allowBare = SETTINGS_NAME.test(file.path);
  // A key that a piece of the text cuts is held for the next one.
  let held = "";
  for (const chunk of file.chunks()) {
    const text = held + chunk.text;
    let line = chunk.line - countLineEnds(held);
    let from = 0;
    for (const { kind, index, value, isSpecific } of [...matchSecrets(text, allowBare)].sort(byPlace)) {
      line += countLineEnds(text.slice(from, index));
      from = index;
      const digest = createHash("sha256").update(Buffer.from(value, "latin1")).digest("hex");
      const fingerprint = digest.slice(0, isSpecific ? 8 : 4);
      found.set(`${line} ${kind} ${fingerprint}`, { line, kind, fingerprint, isSpecific });
    }
    held = text.slice(findOpenKey(text));
  }
  return [...found.values()];
}

const countLineEnds = (text) => text.split("\n").length - 1;
const byPlace = (a, b) => a.index - b.index || (a.kind < b.kind ? -1 : 1);

/** Where a private key begins that does not end in this text; the length of the text when there is none. */
function findOpenKey(text) {
  const at = text.lastIndexOf("-----BEGIN ");
  const isOpen = at >= 0 && text.length - at < PEM_BYTES_MAX && !text.includes("-----END ", at);
  return isOpen ? at : text.length;
}

function* matchSecrets(text, allowBare) {
  yield* matchKeys(text);
  const taken = new Set();
  for (const [kind, pattern] of SPECIFIC) {
    for (const match of text.matchAll(pattern)) {
      const value = match[1];
      const index = match.index + match[0].indexOf(value);
      taken.add(index);
      if (!isMonotonous(value) && !isSample(kind, value, match[0])) yield { kind, index, value, isSpecific: true };
    }
  }
  for (const match of ASSIGNMENTS.slice(0, allowBare ? 2 : 1).flatMap((pattern) => [...text.matchAll(pattern)])) {
    const value = match[1];
    const index = match.index + match[0].lastIndexOf(value);
    if (taken.has(index) || !isRandomLooking(value)) continue;
    taken.add(index);
    yield { kind: "assignment of a random-looking value", index, value, isSpecific: false };
  }
}

/** Private keys: a header, a body of base64 that decodes to something random, and the end that belongs to the header. */
function* matchKeys(text) {
  for (const match of text.matchAll(PEM_BEGIN)) {
    const body = text.slice(match.index + match[0].length, match.index + match[0].length + PEM_BYTES_MAX);
    const raw = body.slice(0, Math.max(0, body.indexOf(`-----END ${match[1]}-----`)));
    const value = decodeKey(raw);
    if (value !== undefined) yield { kind: "private key (PEM)", index: match.index, value, raw, isSpecific: true };
  }
}

/** The bytes of a key's body, in a file or in the text literals of a program; `undefined` when it is no key. */
function decodeKey(body) {
  const base64 = body
    .split(/\r?\n|(?:\\+[nr])+/)
    .map((line) => line.replace(/(?:["'`]\s*[+,.]?\s*\\?)?\s*$/, "").replace(LINE_START, ""))
    .filter((line) => !/^[\w-]+: |^=[\w+/]{4}$/.test(line))
    .join("");
  if (!PEM_BASE64.test(base64) || base64.replace(/=+$/, "").length % 4 === 1) return undefined;
  return computeEntropy(base64) < PEM_ENTROPY_MIN ? undefined : Buffer.from(base64, "base64").toString("latin1");
}

/** Whether a value of a specific shape is one that manuals print. */
function isSample(kind, value, whole) {
  if (SAMPLE.test(value)) return true;
  if (kind === "JSON Web Token")
    return SAMPLE_CLAIMS.test(Buffer.from(value.split(".")[1], "base64url").toString("utf8"));
  if (kind !== "password in a URL") return false;
  return SAMPLE_PASSWORD.test(value) || SAMPLE_HOST.test(whole) || whole.includes(`://${value}:`);
}

/** Whether an assigned value looks like a key or a password rather than like a word, a path or code; it has a digit. */
function isRandomLooking(value) {
  if (SAMPLE.test(value) || LOOKS_LIKE_CODE.test(value) || isMonotonous(value)) return false;
  const classes = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^a-zA-Z0-9]/].filter((pattern) => pattern.test(value)).length;
  if (!/[0-9]/.test(value) || /^[0-9.,:-]+$/.test(value) || classes < 2) return false;
  return computeEntropy(value) >= ENTROPY_MIN || (classes >= 3 && value.length >= 10 && computeEntropy(value) >= 2.8);
}

function isMonotonous(value) {
  return new Set(value).size < Math.min(6, value.length / 2);
}

/** Shannon entropy in bits per character. */
function computeEntropy(value) {
  const counts = new Map();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

/** The text with every suspected secret, and every long random-looking run, replaced (X1). */
export function redactSecrets(text) {
  let clean = text;
  for (const { value, raw } of matchSecrets(text, true)) clean = clean.split(raw ?? value).join("[redacted]");
  return clean.replace(/[A-Za-z0-9+/_=-]{20,}/g, (run) =>
    /[0-9]/.test(run) && /[A-Za-z]/.test(run) && computeEntropy(run) >= 3.5 ? "[redacted]" : run,
  );
}
