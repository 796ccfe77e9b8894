// "Sends" the report: appends one line to final/outbox.txt of the task's outputs. With --was-it-sent it only looks whether that was done.
//
// The idempotency key is the same when the step is attempted again, so it tells this very letter from all others.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const outbox = join(process.env.SPLASHDOWN_OUTPUT_FOLDER ?? ".", "final", "outbox.txt");
const key = process.env.SPLASHDOWN_IDEMPOTENCY_KEY ?? "by hand";
const wasSent = existsSync(outbox) && readFileSync(outbox, "utf8").includes(key);

if (process.argv.includes("--was-it-sent")) {
  // A probe answers with its status: 0 and the output on stdout: done; 3: not done; anything else: it cannot tell.
  if (!wasSent) process.exit(3);
} else {
  mkdirSync(dirname(outbox), { recursive: true, mode: 0o700 });
  appendFileSync(outbox, `${key} report sent\n`);
}
console.log(JSON.stringify({ output: { sent: true }, confidence: 0.95 }));
