/** Sends a letter: appends the text to the outbox, a file below the task's outputs. */
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";

const [name, text] = process.argv.slice(2);
const outbox = resolve(process.env.SPLASHDOWN_OUTPUT_FOLDER ?? ".", name);
mkdirSync(dirname(outbox), { recursive: true, mode: 0o700 });
appendFileSync(outbox, `${text}\n`);
