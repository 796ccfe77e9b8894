/** The line that matters among what programs of different languages leave on stderr. */
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { selectErrorLine, selectErrorLines } from "../../../src/base/error-lines.js";

const NODE_MISSING = `node:internal/modules/cjs/loader:1148
  throw err;
  ^

Error: Cannot find module '/x/tools/prices.mjs'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1145:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2
`;

const SAID: readonly (readonly [language: string, stderr: string, line: string])[] = [
  ["node, a missing script", NODE_MISSING, "Error: Cannot find module '/x/tools/prices.mjs'"],
  [
    "node, an error with a cause",
    "file:///t.mjs:1\nthrow 1\n^\n\nRangeError: outer\n    at f (x.js:1:2) {\n  [cause]: Error: inner\n      at g (x.js:2:2)\n}\n\nNode.js v22.1.0\n",
    "RangeError: outer",
  ],
  [
    "node, something thrown that is no error",
    "node:internal/process\n\n[UnhandledPromiseRejection: reason no]\n\nNode.js v24.0.0\n",
    "[UnhandledPromiseRejection: reason no]",
  ],
  [
    "python",
    "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nKeyError: 'price'\n",
    "KeyError: 'price'",
  ],
  ["go", "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:4 +0x1d\nexit status 2\n", "panic: boom"],
  [
    "rust",
    "thread 'main' panicked at src/main.rs:2:5:\nno such row\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
    "no such row",
  ],
  [
    "java",
    'Exception in thread "main" java.lang.IllegalStateException: outer\n\tat A.main(A.java:3)\nCaused by: java.io.IOException: inner\n\tat B.b(B.java:1)\n\t... 1 more\n',
    'Exception in thread "main" java.lang.IllegalStateException: outer',
  ],
  [
    "ruby",
    "x.rb:1:in `f': no price (RuntimeError)\n\tfrom x.rb:3:in `<main>'\n",
    "x.rb:1:in `f': no price (RuntimeError)",
  ],
  [
    "php",
    "PHP Fatal error:  Uncaught Exception: no price in /x.php:3\nStack trace:\n#0 {main}\n  thrown in /x.php on line 3\n",
    "PHP Fatal error:  Uncaught Exception: no price in /x.php:3",
  ],
  [
    ".net",
    "Unhandled exception. System.Exception: no price\n   at P.Main() in /x.cs:line 3\n",
    "Unhandled exception. System.Exception: no price",
  ],
  [
    "npm",
    'npm error Missing script: "pack"\nnpm error\nnpm error A complete log of this run can be found in: /root/.npm/_logs/1.log\n',
    'npm error Missing script: "pack"',
  ],
  ["a shell", "reading\nx.sh: line 3: prices: command not found\n", "x.sh: line 3: prices: command not found"],
  [
    "a tool that tells its usage",
    "error: unknown option --fast\nusage: tool [--slow]\n",
    "error: unknown option --fast",
  ],
  ["plain words, with CRLF", "first\r\nrefused by the bank\r\n", "refused by the bank"],
  ["a version and nothing else", "Node.js v20.20.2\n", "Node.js v20.20.2"],
  ["nothing", " \n\n", ""],
];

describe("the line that names the error", () => {
  it.each(SAID)("[first-use F2 kin] %s", (_language, stderr, line) => {
    expect(selectErrorLine(stderr)).toBe(line);
  });

  it("[first-use F2] is what this Node says of an uncaught error, not its version", () => {
    const { stderr } = spawnSync(process.execPath, ["-e", "const cfg = undefined; console.log(cfg.price);"], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] },
    });
    expect(stderr).toContain(`Node.js ${process.version}`);
    expect(selectErrorLine(stderr)).toBe("TypeError: Cannot read properties of undefined (reading 'price')");
  });

  it("is short, however much was written on one line", () => {
    expect(selectErrorLine("x".repeat(100_000))).toHaveLength(500);
  });
});

describe("the lines around it", () => {
  it("[first-use F2 kin] begin before the error and end before the runtime's trailer", () => {
    expect(selectErrorLines(NODE_MISSING)).toEqual([
      "node:internal/modules/cjs/loader:1148",
      "  throw err;",
      "  ^",
      "",
      "Error: Cannot find module '/x/tools/prices.mjs'",
      "    at Module._resolveFilename (node:internal/modules/cjs/loader:1145:15)",
      "    at node:internal/main/run_main_module:28:49 {",
      "  code: 'MODULE_NOT_FOUND',",
      "  requireStack: []",
    ]);
  });

  it("are the last ten of many, and always hold the error", () => {
    const many = Array.from({ length: 50 }, (_, line) => `line ${line + 1}`).join("\n");
    expect(selectErrorLines(many)).toEqual(Array.from({ length: 10 }, (_, line) => `line ${line + 41}`));
    const frames = Array.from({ length: 40 }, (_, line) => `    at f${line} (x.js:1:1)`).join("\n");
    const shown = selectErrorLines(`${many}\n\nError: deep\n${frames}\n\nNode.js v20.0.0\n`);
    expect(shown).toContain("Error: deep");
    expect(shown.length).toBeLessThanOrEqual(10);
  });

  it("are none where nothing was written", () => {
    expect(selectErrorLines("\n \n")).toEqual([]);
  });
});
