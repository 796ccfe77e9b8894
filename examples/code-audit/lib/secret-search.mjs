/**
 * Owns the search for secrets in one open file: pieces of text, lines, and each finding once per line.
 */
import { findOpenKey, findSecrets } from "./secret-patterns.mjs";

const SETTINGS_NAME =
  /(?:^|\/)(?:\.env[^/]*|[^/]*\.(?:env|ini|cfg|conf|properties|toml|npmrc|ya?ml|sh|tfvars))$|(?:^|\/)(?:\.npmrc|\.pypirc|\.netrc|credentials)$/i;

/** Searches an open file. Shape: `{line, kind, fingerprint, isSpecific}` in order; a key cut by a piece's end is held for the next. */
export function searchFile(file) {
  const found = [];
  const seen = new Set();
  const allowBare = SETTINGS_NAME.test(file.path);
  let held = "";
  for (const chunk of file.chunks()) {
    const text = held + chunk.text;
    const open = findOpenKey(text);
    let line = chunk.line - countLines(held, held.length);
    let from = 0;
    for (const { index, ...finding } of findSecrets(text, allowBare)) {
      line += countLines(text.slice(from, index), index - from);
      from = index;
      const key = `${line} ${finding.kind} ${finding.fingerprint}`;
      if (!seen.has(key)) found.push({ line, ...finding });
      seen.add(key);
    }
    held = text.slice(open);
  }
  return found;
}

function countLines(text, until) {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < until; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
