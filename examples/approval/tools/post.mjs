/** Sends a letter: appends the text to the outbox. */
import { appendFileSync } from "node:fs";

const [outbox, text] = process.argv.slice(2);
appendFileSync(outbox, `${text}\n`);
