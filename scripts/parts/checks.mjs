/**
 * The gates that CI has beside the tests, as data, so that a test can plant a violation for each of them
 * (test/checks.test.ts). Every command runs in the folder that holds the settings.
 */
const tool = (path, ...args) => [`node_modules/${path}`, ...args];

/** `args` are those of node. */
export const CHECKS = [
  { name: "schemas", args: ["scripts/generate-types.mjs"] },
  { name: "types", args: tool("typescript/bin/tsc", "--noEmit", "-p", "tsconfig.json") },
  { name: "types of tests", args: tool("typescript/bin/tsc", "--noEmit", "-p", "test/tsconfig.json") },
  { name: "types of the page", args: tool("typescript/bin/tsc", "--noEmit", "-p", "web/tsconfig.json") },
  {
    name: "lint",
    args: tool(
      "oxlint/bin/oxlint",
      "--type-aware",
      "--deny-warnings",
      "src",
      "web",
      "test",
      "scripts",
      "proof",
      "examples",
    ),
  },
  { name: "format", args: tool("prettier/bin/prettier.cjs", "--check", ".") },
  { name: "dead code", args: tool("knip/bin/knip.js", "--no-progress") },
  { name: "package", args: tool("publint/src/cli.js", "--strict") },
  {
    name: "package types",
    args: tool("@arethetypeswrong/cli/dist/index.js", "--pack", ".", "--profile", "esm-only", "--format", "ascii"),
  },
];
