/** The system's keyring as the package gives it, by a package of ours in its place. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readSystemSecret } from "../../../src/runtime/keychain/key-packages.js";
import { withFolder } from "../../support/store-places.js";

/** `body` of a function of the service, the account and whether the Secret Service is demanded. */
async function readWith(body: string): Promise<string | undefined> {
  return withFolder(async (folder) => {
    const home = join(folder, "node_modules/@napi-rs/keyring");
    mkdirSync(home, { recursive: true });
    writeFileSync(
      join(home, "package.json"),
      '{"name": "@napi-rs/keyring", "type": "module", "exports": "./index.js"}',
    );
    const look = `async (service, account, isPinned) => { ${body} }`;
    writeFileSync(
      join(home, "index.js"),
      `const look = ${look};
       export class AsyncEntry {
         constructor(...place) { this.place = place; }
         getPassword() { const [service, account, options] = this.place;
           return look(service, account, options?.linux.store === "secret-service"); }
       }`,
    );
    return readSystemSecret(folder, { service: "splashdown", account: "ada" });
  });
}

describe("an entry of the system's keyring", () => {
  it("gives its text", async () => {
    expect(await readWith("return service + account")).toBe("splashdownada");
  });

  it("that is not there is absent where the Secret Service says so", async () => {
    expect(await readWith("return null")).toBeUndefined();
  });

  it("is no absent one where the Secret Service cannot be reached: the reason is told", async () => {
    await expect(readWith("if (isPinned) throw new Error('no session bus'); return null;")).rejects.toMatchObject({
      code: "KEY_SOURCE_INVALID",
      message: "the system's keyring refuses the entry splashdown/ada: no session bus",
    });
  });
});
