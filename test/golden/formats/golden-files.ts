/** The frozen files themselves. */
import { readdirSync, readFileSync } from "node:fs";

const FILES = new URL("files/", import.meta.url);

export function loadGolden(name: string): Buffer {
  const bytes = readFileSync(new URL(name, FILES));
  return name.endsWith(".b64") ? Buffer.from(bytes.toString("utf8"), "base64") : bytes;
}

export function listGolden(): readonly string[] {
  return readdirSync(FILES).sort();
}
