/**
 * A process that runs tests over the switchable sources again and again, so that they are transformed once. It is told
 * `{ id, batches }`, runs the batches of test files with that site off until a test fails that passes with none off, and
 * answers `{ id, caughtBy }`: the full name of that test, absent when there is none.
 */
import { writeFileSync } from "node:fs";
import { createVitest } from "vitest/node";

const { SPLASHDOWN_GUARD_OFF: offFile } = process.env;
const NOTHING = { onInit: () => undefined };
const vitest = await createVitest(
  "test",
  { config: "proof/guards/vitest.config.mjs", watch: false, bail: 1, reporters: [NOTHING] },
  {},
);

process.on("message", ({ id, batches }) => void judge(id, batches).then((caughtBy) => process.send({ id, caughtBy })));
process.send({ ready: true });

async function judge(id, batches) {
  for (const batch of batches) {
    let files = batch;
    while (files.length > 0) {
      const failed = await findFailure(id, files);
      if (failed === undefined) break;
      if (await isItsFault(id, failed.file)) return `${failed.file}: ${failed.what}`;
      files = files.filter((file) => file !== failed.file);
    }
  }
  return undefined;
}

/** A test that fails by itself now and then, as on a busy machine, has noticed nothing. */
async function isItsFault(id, file) {
  return (await findFailure("", [file])) === undefined && (await findFailure(id, [file])) !== undefined;
}

/** The first failure of the files with a site off. Shape: the file, and what failed in it. */
async function findFailure(id, files) {
  writeFileSync(offFile, id);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
    await vitest.globTestSpecifications(files),
  );
  for (const module of testModules)
    for (const test of module.children.allTests("failed"))
      return { file: module.relativeModuleId, what: test.fullName };
  const broken = testModules.find((module) => module.state() === "failed");
  if (broken !== undefined) return { file: broken.relativeModuleId, what: "it does not load, or a hook fails" };
  return unhandledErrors.length === 0 ? undefined : { file: files[0], what: "an error outside of a test" };
}
