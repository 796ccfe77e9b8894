/**
 * How secrets look and what fields that hold them are called. Data, with one function to ask each.
 *
 * Names are matched whole, with separators and case left out: `tokens_used`, `page_token` or `password_policy` are
 * ordinary fields. Patterns have hints, one of which must be in the text before the expression is tried.
 * Source: STORAGE section 1.13; the vendors' published token formats.
 */

export interface SecretPattern {
  readonly kind: string;
  readonly hints: readonly string[];
  readonly expression: RegExp;
  /** True: group 1 is what stands before the secret and stays, group 2 the secret. */
  readonly hasContext?: boolean;
}

const SECRET_WORDS = new Set(
  [
    "password passwd pwd passphrase userpassword dbpassword secret clientsecret appsecret sharedsecret",
    "signingsecret webhooksecret token accesstoken refreshtoken idtoken authtoken bearertoken",
    "sessiontoken apitoken privatetoken personalaccesstoken xauthtoken securitytoken apikey xapikey",
    "apisecret secretkey accesskey secretaccesskey privatekey signingkey encryptionkey authorization",
    "proxyauthorization cookie setcookie credential credentials",
  ].flatMap((line) => line.split(" ")),
);

/** Ends of longer names, such as `OPENAI_API_KEY` or `db_password`. */
const SECRET_ENDS = [
  "password",
  "passphrase",
  "apikey",
  "secretkey",
  "privatekey",
  "accesskey",
  "secret",
  "accesstoken",
];

/** Names of environment variables: `GITHUB_TOKEN`. */
const TOKEN_VARIABLE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_TOKEN$/;

/** True when a field of this name holds a secret. */
export function isSecretName(name: string): boolean {
  if (name.length < 3 || name.length > 64) return false;
  if (TOKEN_VARIABLE.test(name)) return true;
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, "");
  return SECRET_WORDS.has(plain) || SECRET_ENDS.some((end) => plain.endsWith(end));
}

const NAMES =
  "password|passwd|pwd|passphrase|secret|client_secret|token|access_token|refresh_token|auth_token|api_key|apikey|api-key|secret_key|private_key";

/** What a secret looks like. Every expression is linear in the length of the text. */
export const SECRET_PATTERNS: readonly SecretPattern[] = [
  {
    kind: "pem",
    hints: ["-----BEGIN "],
    expression:
      /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----)?/g,
  },
  // The whole shape is looked for once where a run of its characters begins; only then what stands before it in the run.
  {
    kind: "jwt",
    hints: ["eyJ"],
    expression: /((?<![\w-])(?=[\w-]{11,}\.eyJ[\w-]{8,}\.)[\w-]*?\b)(eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*)/g,
    hasContext: true,
  },
  { kind: "aws", hints: ["AKIA", "ASIA"], expression: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { kind: "github", hints: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], expression: /\bgh[pousr]_[A-Za-z0-9]{20,255}\b/g },
  { kind: "github", hints: ["github_pat_"], expression: /\bgithub_pat_\w{22,255}\b/g },
  { kind: "gitlab", hints: ["glpat-", "gldt-", "glrt-"], expression: /\bgl(?:pat|dt|rt)-[\w.-]{20,255}/g },
  { kind: "slack", hints: ["xox", "xapp-"], expression: /\bx(?:ox[abeoprs]|app)-[A-Za-z0-9-]{10,255}/g },
  { kind: "slack", hints: ["hooks.slack.com/"], expression: /hooks\.slack\.com\/services\/[A-Za-z0-9/_-]{20,255}/g },
  { kind: "google", hints: ["AIza"], expression: /\bAIza[\w-]{35}/g },
  { kind: "google", hints: ["ya29."], expression: /\bya29\.[\w-]{20,2048}/g },
  { kind: "npm", hints: ["npm_"], expression: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { kind: "sk", hints: ["sk-", "sk_live_", "sk_test_"], expression: /\bsk(?:-|_live_|_test_)[\w-]{16,255}/g },
  {
    kind: "authorization",
    hints: ["uthorization", "UTHORIZATION"],
    expression:
      /(\b(?:proxy-)?authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:(?:bearer|basic|token|digest)\s{1,4})?)([^\s"',;]{6,4096})/gi,
    hasContext: true,
  },
  {
    kind: "url",
    hints: ["://"],
    expression: /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{0,255}:)([^\s/@"']{1,255})(?=@)/gi,
    hasContext: true,
  },
  {
    kind: "field",
    hints: ["="],
    expression: new RegExp(`((?:^|[\\s?&;"'\`_-])(?:${NAMES})=["']?)([^\\s"'\`&;<>(){}$]{6,4096})`, "gi"),
    hasContext: true,
  },
  {
    kind: "field",
    hints: ['":', '" :', '\\":'],
    expression: new RegExp(
      `(\\\\?"(?:[A-Za-z0-9]{0,32}_)?(?:${NAMES})\\\\?"\\s{0,4}:\\s{0,4}\\\\?")([^"\\\\]{1,4096})`,
      "gi",
    ),
    hasContext: true,
  },
];
