/** What a redaction mark tells: nothing, where its digest has no secret. */
import { describe, expect, it } from "vitest";
import { createEnvironment } from "../../../../src/runtime/platform/environment.js";
import { createSanitiser } from "../../../../src/runtime/session/sanitiser.js";
import type { Services } from "../../../../src/runtime/services/services.js";
import { createPlainVault } from "../../../../src/vault/sealing.js";
import { command, machine } from "../../../support/workflow-builder.js";
import { createVaultRoom, TASK_ID } from "../../../support/vault-room.js";

type MarkVault = Parameters<typeof createSanitiser>[1];

function createCleaner(pin: string, vault: MarkVault) {
  const models = { secretVariables: [], onSecret: () => () => true } as unknown as Services["models"];
  const keys = { secretVariables: [] } as unknown as Services["keys"];
  const settings = { cli_agents: {} } as unknown as Services["settings"];
  const services = { environment: createEnvironment({ PIN: pin }, "/work"), keys, models, settings };
  return createSanitiser(services, vault, machine("main", [command("a", { secrets: ["PIN"] })]));
}

const sanitise = (pin: string, vault: MarkVault): string => createCleaner(pin, vault).cleanText(`the pin is ${pin}`);

describe("a redaction mark", () => {
  it("[security L3] is the same for every secret where nothing is encrypted, so that no PIN is found from it by trying", () => {
    const plain = createPlainVault(TASK_ID);
    expect(sanitise("48291734", plain)).toBe(sanitise("19283746", plain));
    expect(sanitise("48291734", plain)).not.toContain("48291734");
  });

  it("[security L3 kin] tells secrets apart where the task is encrypted, by a digest that needs its key", async () => {
    const vault = await createVaultRoom().create();
    const other = await createVaultRoom({ seed: 2 }).create();
    expect(sanitise("48291734", vault)).not.toBe(sanitise("19283746", vault));
    expect(sanitise("48291734", vault)).not.toBe(sanitise("48291734", other));
  });

  it("[security L3 kin] of a field that is named as secret is the same for every value in the clear", () => {
    const clean = (password: string) => createCleaner("48291734", createPlainVault(TASK_ID)).clean({ password });
    expect(clean("hunter22")).toEqual(clean("tr0ub4dor"));
    expect(JSON.stringify(clean("hunter22"))).toMatch(/^\{"password":"\[redacted:[a-z]+:0{8}\]"\}$/);
  });

  it("[security L3 kin] of a secret that its shape gives away is the same for every value in the clear", () => {
    const clean = (letter: string) =>
      createCleaner("48291734", createPlainVault(TASK_ID)).cleanText(`Authorization: Bearer ghp_${letter.repeat(36)}`);
    expect(clean("a")).toBe(clean("b"));
    expect(clean("a")).toMatch(/\[redacted:[a-z_]+:0{8}\]/);
  });
});
