/** Secrets of every shape that is known, made at run time so that no file holds what looks like one. */
/** So many characters of a text, over and over. */
export const repeat = (text: string, count: number): string =>
  text.repeat(Math.ceil(count / text.length)).slice(0, count);

export const PLANTED: readonly (readonly [kind: string, secret: string])[] = [
  [
    "pem",
    ["-----BEGIN", " RSA PRIVATE KEY-----\nMIIEow", repeat("aB3/", 60), "\n-----END RSA PRIVATE KEY-----"].join(""),
  ],
  ["pem", ["-----BEGIN", " PRIVATE KEY-----\n", repeat("Qx9+", 60), "\n-----END PRIVATE KEY-----"].join("")],
  ["jwt", ["eyJ", repeat("hbGciOi", 20), ".eyJ", repeat("zdWIiOi", 30), ".", repeat("s5Kx_-", 43)].join("")],
  ["aws", `AKIA${repeat("Q3EXAMPLE", 16)}`],
  ["aws", `ASIA${repeat("Q3EXAMPLE", 16)}`],
  ["github", `ghp_${repeat("a1B2c3", 36)}`],
  ["github", `gho_${repeat("a1B2c3", 36)}`],
  ["github", `github_pat_${repeat("a1B2c3", 22)}_${repeat("Zz9", 59)}`],
  ["gitlab", `glpat-${repeat("x-Y_z1", 20)}`],
  ["slack", `xoxb-${repeat("123456789", 12)}-${repeat("abC", 24)}`],
  ["slack", `xapp-1-${repeat("A0B", 20)}`],
  ["slack", `hooks.slack.com/services/${repeat("T0B1", 9)}/${repeat("B0", 9)}/${repeat("xYz", 24)}`],
  ["google", `AIza${repeat("Sy_-0a", 35)}`],
  ["google", `ya29.${repeat("a0Af_-", 60)}`],
  ["npm", `npm_${repeat("aZ09", 36)}`],
  ["sk", `sk-${repeat("a1B2", 48)}`],
  ["sk", `sk-proj-${repeat("a1B2_-", 60)}`],
  ["sk", `sk-ant-api03-${repeat("a1-B2", 90)}`],
  ["sk", `sk_live_${repeat("a1B2", 24)}`],
];
