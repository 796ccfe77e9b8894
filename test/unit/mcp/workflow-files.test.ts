import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { requireWorkflowFile } from "../../../src/mcp/workflow-files.js";
import { openFolder } from "../../support/temporary-folder.js";

function openPlace() {
  const folder = openFolder();
  mkdirSync(join(folder, "root/sub"), { recursive: true });
  for (const file of ["root/w.yaml", "root/sub/w.yaml", "outside.yaml", "root..yaml"])
    writeFileSync(join(folder, file), "");
  symlinkSync("../outside.yaml", join(folder, "root/out.yaml"));
  symlinkSync("..", join(folder, "root/up"));
  symlinkSync("sub/w.yaml", join(folder, "root/in.yaml"));
  return { folder, root: join(folder, "root") };
}

describe("the workflow files of an agent", () => {
  it("are those below the root, by any path, and by links that stay there", async () => {
    const { root } = openPlace();
    for (const [file, real] of [
      ["w.yaml", "w.yaml"],
      ["./sub/../sub/w.yaml", "sub/w.yaml"],
      ["in.yaml", "sub/w.yaml"],
      [join(root, "w.yaml"), "w.yaml"],
      ["up/root/w.yaml", "w.yaml"],
    ] as const)
      expect(await requireWorkflowFile(root, file)).toBe(join(root, real));
  });

  it.each([
    "../outside.yaml",
    "/etc/passwd",
    "..",
    ".",
    "../root..yaml",
    "out.yaml",
    "up/outside.yaml",
    "../none.yaml",
  ])("are not %s, whether it is there or not", async (file) => {
    await expect(requireWorkflowFile(openPlace().root, file)).rejects.toMatchObject({ code: "WORKFLOW_OUTSIDE" });
  });

  it("must be there", async () => {
    await expect(requireWorkflowFile(openPlace().root, "none.yaml")).rejects.toMatchObject({
      code: "WORKFLOW_NOT_FOUND",
      message: "workflow file none.yaml: there is no such file",
    });
  });
});
