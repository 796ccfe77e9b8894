// "Sends" the report: appends one line to outbox.txt. With --was-it-sent it only looks whether that was done.
//
// The idempotency key is the same when the step is attempted again, so it tells this very letter from all others.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const outbox = fileURLToPath(new URL("../outbox.txt", import.meta.url));
const key = process.env.SPLASHDOWN_IDEMPOTENCY_KEY ?? "by hand";
const wasSent = existsSync(outbox) && readFileSync(outbox, "utf8").includes(key);

if (process.argv.includes("--was-it-sent")) {
  // A probe answers with its status: 0 and the output on stdout: done; 3: not done; anything else: it cannot tell.
  if (!wasSent) process.exit(3);
} else {
  appendFileSync(outbox, `${key} report sent\n`);
}
console.log(JSON.stringify({ output: { sent: true }, confidence: 0.95 }));
