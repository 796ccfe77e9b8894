// Our use of cryptography against another implementation (noble) on random cases, and the slot for age recipients against the
// vectors of age itself (C2SP/CCTV). Installs both first, into proof/proofs/oracles/. Prints { tried, violations, untried } or { skipped }.
//   node proof/proofs/other-crypto.mjs CASES [SEED]
import { createHash } from "node:crypto";
import { join } from "node:path";
import { createRandom } from "../kill-loop/random.mjs";
import { installPackages } from "./installed.mjs";
import { ROOT } from "./stand.mjs";

const CASES = Number(process.argv[2] ?? 1_000);
const SEED = Number(process.argv[3] ?? 1);
const FOLDER = join(import.meta.dirname, "oracles");
/** Slow in the other implementation. */
const SCRYPT_EVERY = 500;
const MESSAGE_BYTES_MAX = 3_000;

const sum = { tried: 0, violations: [], untried: [] };
const reason = installPackages(FOLDER);
if (reason !== undefined) sum.skipped = `the other implementation cannot be had here: ${reason}`;
else {
  await tryRandomCases();
  await tryAgeVectors();
}
console.log(JSON.stringify(sum));

function blame(text) {
  sum.violations.push(text);
}

function oracle(name) {
  return import(join(FOLDER, "node_modules", name));
}

function own(name) {
  return import(join(ROOT, "dist", name));
}

async function tryRandomCases() {
  const { gcm } = await oracle("@noble/ciphers/aes.js");
  const { hkdf } = await oracle("@noble/hashes/hkdf.js");
  const { scrypt } = await oracle("@noble/hashes/scrypt.js");
  const { sha256: sha256There, sha512 } = await oracle("@noble/hashes/sha2.js");
  const { openBytes, sealBytes } = await own("vault/aead.js");
  const { deriveBytes } = await own("vault/derivation.js");
  const { derivePassphraseKey } = await own("vault/slot.js");
  const { sha256 } = await own("base/digest.js");
  const random = createRandom(SEED);
  const bytes = (count) => Uint8Array.from({ length: count }, () => random.below(256));
  const isSame = (left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)) === 0;
  for (let run = 0; run < CASES; run += 1) {
    const [key, nonce, aad] = [bytes(32), bytes(12), bytes(random.below(120))];
    const message = bytes(random.below(run % 16 === 0 ? MESSAGE_BYTES_MAX : 120));
    const sealed = sealBytes({ key, nonce }, aad, message);
    const there = gcm(key, nonce, aad);
    if (!isSame(sealed, there.encrypt(message))) blame(`case ${run}: another seal`);
    if (!isSame(openBytes({ key, nonce }, aad, sealed) ?? [], there.decrypt(sealed)))
      blame(`case ${run}: another text`);
    sealed[random.below(sealed.length)] ^= 1 << random.below(8);
    if (openBytes({ key, nonce }, aad, sealed) !== undefined) blame(`case ${run}: a changed seal opens here`);
    const [salt, size] = [bytes(random.below(64)), 1 + random.below(200)];
    if (!isSame(deriveBytes({ key, salt }, aad, size), hkdf(sha512, key, salt, aad, size)))
      blame(`case ${run}: another key`);
    if (!isSame(sha256(message), sha256There(message))) blame(`case ${run}: another digest`);
    if (run % SCRYPT_EVERY === 0) {
      const cost = { log2n: 1 + random.below(8), r: 1 + random.below(8), p: 1 + random.below(3) };
      const words = Buffer.from(bytes(12)).toString("hex");
      const wanted = scrypt(words, salt, { N: 2 ** cost.log2n, r: cost.r, p: cost.p, dkLen: 32 });
      const made = await derivePassphraseKey(words, salt, cost);
      if (!isSame(made.subarray(0, 32), wanted.subarray(0, made.length))) blame(`case ${run}: another passphrase key`);
    }
    sum.tried += 1;
  }
}

/** The vectors that have an identity: what they say must open opens to that content, and nothing else opens. */
async function tryAgeVectors() {
  const vectors = await oracle("cctv-age/index.js");
  const { armor } = await import("age-encryption");
  const { loadAge } = await own("runtime/keychain/key-packages.js");
  const box = await loadAge(ROOT);
  let passphrases = 0;
  for (const [name, content] of Object.entries(vectors.default ?? vectors)) {
    const { facts, body } = parseVector(Buffer.from(content));
    const identities = facts.filter(([key]) => key === "identity").map(([, value]) => value);
    const said = Object.fromEntries(facts);
    if (identities.length === 0 || said.compressed !== undefined) {
      passphrases += 1;
      continue;
    }
    const text = said.armored === "yes" ? body.toString("latin1") : armor.encode(body);
    const opened = await box.open(text, identities).catch(() => undefined);
    const digest = opened === undefined ? undefined : createHash("sha256").update(opened).digest("hex");
    const mustOpen = said.expect === "success";
    if (mustOpen ? digest !== said.payload : opened !== undefined)
      blame(`age vector ${name}: ${said.expect}, but ${digest ?? "refused"}`);
    sum.tried += 1;
  }
  sum.untried.push(`${passphrases} of age's vectors: for passphrases, or compressed; our slot has neither`);
}

/** Lines `key: value`, an empty one, and the file. */
function parseVector(content) {
  const end = content.indexOf("\n\n");
  const lines = content.subarray(0, end).toString("utf8").split("\n");
  const facts = lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
  return { facts, body: content.subarray(end + 2) };
}
