// Counts words or letters of the subject. Input: JSON on stdin; output: JSON on stdout; confidence is 0..1.
import { readFileSync } from "node:fs";

const { input } = JSON.parse(readFileSync(0, "utf8"));
const what = process.argv[2];
const found = what === "words" ? input.subject.split(/\s+/).filter(Boolean) : [...input.subject.replace(/\s/g, "")];
console.log(JSON.stringify({ output: { what, count: found.length }, confidence: 0.95 }));
