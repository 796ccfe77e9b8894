/** The schemas of what `--json` prints, as validators: `expectView("run", value)`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";

const FOLDER = join(import.meta.dirname, "..", "..", "schemas", "views");
const SUFFIX = ".schema.json";

export const VIEW_NAMES: readonly string[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith(SUFFIX))
  .map((name) => name.slice(0, -SUFFIX.length));

const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
addFormats.default(ajv);
for (const name of VIEW_NAMES)
  ajv.addSchema(JSON.parse(readFileSync(join(FOLDER, `${name}${SUFFIX}`), "utf8")) as object, name);

/** Fails with every place where the value is not what the schema of that answer says. */
export function expectView(name: string, value: unknown): void {
  const validate = ajv.getSchema(name);
  if (validate === undefined) throw new Error(`there is no schema of a view ${name}`);
  void validate(JSON.parse(JSON.stringify(value)));
  const faults = (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message ?? ""} ${JSON.stringify(params)}`,
  );
  expect(faults, name).toEqual([]);
}
