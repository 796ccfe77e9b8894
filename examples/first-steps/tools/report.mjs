// Writes the report. The outputs of the specialists before it come along in `outputs`, by name.
import { readFileSync } from "node:fs";

const { input, outputs } = JSON.parse(readFileSync(0, "utf8"));
const markdown = `# ${input.subject}\n\n${outputs.words.count} words, ${outputs.letters.count} letters.\n`;
console.log(JSON.stringify({ output: { markdown }, confidence: 0.95 }));
