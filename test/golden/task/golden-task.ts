/** A small task of today's formats, made with fixed keys and randomness: a question, its answer, checkpoints, a pin. */
import { sha256Hex } from "../../../src/base/digest.js";
import { isJsonObject, type JsonObject } from "../../../src/base/json.js";
import { canonicalJson } from "../../../src/base/json-encoding.js";
import { contentOf, type DiskModel, type DiskNode } from "../../support/disk-model.js";
import { MODEL_ROOT } from "../../support/store-places.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { ExploredPlace, type WorkflowOf } from "../../simulation/verbs/explored-place.js";
import { eventsOf, pictureOfFiles, pictureOfTasks } from "../../simulation/verbs/picture.js";

const workflow: WorkflowOf = (call) => ({
  workflow: { name: "golden", limits: { max_iterations: 1 } },
  steps: [
    { name: "a", function: call("a"), effects: "idempotent" },
    { name: "b", function: call("b"), effects: "idempotent", depends_on: ["a"] },
  ],
});

function openOn(disk: FaultyFileSystem): Promise<ExploredPlace> {
  const options = { fileSystem: disk, now: () => disk.operationCount, seed: "golden" };
  return ExploredPlace.open(options, { workflow });
}

/** Files of the task by their path below the store, in base64. */
export type GoldenFiles = Readonly<Record<string, string>>;

export async function makeGoldenFiles(): Promise<GoldenFiles> {
  const disk = new FaultyFileSystem();
  const place = await openOn(disk);
  await place.run("t");
  await place.verbs.answer({ task: "t", answer: "extend", value: { iterations: 5 } });
  await place.verbs.resume({ task: "t", workflow: place.workflow });
  await place.verbs.checkpoints.pin("t:1", { note: "kept" });
  await place.verbs.close();
  return filesOf(disk.disk);
}

function filesOf(disk: DiskModel): GoldenFiles {
  const files: Record<string, string> = {};
  const walk = (node: DiskNode, path: string): void => {
    if (node.kind === "folder") for (const [name, child] of node.entries) walk(child, `${path}/${name}`);
    else if (node.kind === "file" && !path.includes("/.")) files[path] = Buffer.from(contentOf(node)).toString("base64");
  };
  walk(disk.find(`${MODEL_ROOT}/t`), "");
  return files;
}

/** Everything that today's program reads from the files, and the digest of it. */
export async function readGoldenFiles(files: GoldenFiles): Promise<{ picture: string; hash: string }> {
  const disk = new FaultyFileSystem();
  await plant(disk, files);
  const place = await openOn(disk);
  const events = [...(await eventsOf(place, "t")).values()];
  const replayed = await place.verbs.debug.replay("t:latest");
  const whole = {
    tasks: await pictureWithoutDrawings(place),
    files: await pictureOfFiles(place, "t"),
    audit: (await place.verbs.audit.verify("t")).intact,
    replayed: replayed.story.length,
    events,
  };
  const { events: _events, ...picture } = whole;
  return { picture: canonicalJson(picture), hash: sha256Hex(canonicalJson(whole)) };
}

/** How a deliverable is drawn is no matter of formats. */
async function pictureWithoutDrawings(place: ExploredPlace): Promise<JsonObject> {
  const { t } = await pictureOfTasks(place);
  if (!isJsonObject(t)) throw new Error("there is no task t");
  return { ...t, deliverables: [] };
}

async function plant(disk: FaultyFileSystem, files: GoldenFiles): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const parts = `${MODEL_ROOT}/t${path}`.split("/").slice(1);
    for (let depth = 1; depth < parts.length; depth += 1)
      await disk.mkdir(`/${parts.slice(0, depth).join("/")}`).catch(() => undefined);
    const handle = await disk.open(`/${parts.join("/")}`, "create");
    await handle.write(Buffer.from(content, "base64"));
    await handle.close();
  }
}
