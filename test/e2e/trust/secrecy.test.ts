/** What must not be read where it must not lie: nothing of the work in the clear below \`checkpoints/\`, no secret anywhere. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../support/real-clock.js";
import { Place, readLedger, removePlaces } from "./place.js";

const TASK = "silent";
const SECRET = "canary/secret+value ü&x=7Q";
const WORDS = {
  input: "canary-of-the-input",
  output: "canary-of-the-output",
  prompt: "canary-of-the-prompt",
  answer: "canary-of-the-answer",
};

afterAll(removePlaces);

const PROGRAM = `
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
const [name, folder] = process.argv.slice(2);
const secret = process.env.TOKEN ?? "no secret";
appendFileSync(folder + "/ledger.txt", name + "\\n");
if (name === "hold") while (!existsSync(folder + "/go")) await sleep(10);
const leaks = {
  shout: () => { console.log("stdout has " + secret); console.error("stderr has " + secret); },
  link: () => console.log("https://user:" + encodeURIComponent(secret) + "@example.test/?token=" + new URLSearchParams({ t: secret })),
  pack: () => console.log(Buffer.from(secret).toString("base64") + " " + JSON.stringify({ secret }) + Buffer.from("user:" + secret).toString("base64")),
  break: () => { console.error("cannot log in with " + secret); process.exit(3); },
  hold: () => process.stdout.write(JSON.stringify({ output: { said: secret, big: "${WORDS.output} ".repeat(20_000) } })),
};
leaks[name]();
`;

const FUNCTIONS = `
export const raise = () => { throw new Error("the server refused " + process.env.TOKEN); };
export const keep = (context) => { context.channel.set("seen", process.env.TOKEN); return { token: process.env.TOKEN, ["key " + process.env.TOKEN]: 1 }; };
`;

function writeLeaky(place: Place): string {
  const program = place.write("leak.mjs", PROGRAM);
  place.write("functions.mjs", FUNCTIONS);
  const script = (name: string) => ({
    name,
    type: "script",
    command: process.execPath,
    args: [program, name, place.path("project")],
    effects: "none",
    secrets: ["TOKEN"],
  });
  return place.write(
    "leaky.json",
    JSON.stringify({
      workflow: {
        name: "leaky",
        entry_point: "all",
        input: { word: { type: "string", default: WORDS.input } },
        limits: { max_iterations: 50 },
        runtime: { provider: "scripted", scripted_answers: { think: [{ say: { thought: WORDS.answer } }] } },
      },
      agents: [
        script("shout"),
        script("link"),
        script("pack"),
        script("break"),
        { name: "raise", function: "./functions.mjs#raise", effects: "none", secrets: ["TOKEN"] },
        { name: "keep", function: "./functions.mjs#keep", effects: "none", secrets: ["TOKEN"] },
        { name: "think", prompt: `${WORDS.prompt} {{ workflow.input.word }}`, output: { thought: { type: "string" } } },
        {
          name: "hold",
          command: [process.execPath, program, "hold", place.path("project")],
          effects: "none",
          secrets: ["TOKEN"],
          save_as: { "final/said.txt": "said" },
          routes: [{ to: "$end" }],
        },
      ],
      parallel: [
        {
          name: "all",
          failure_mode: "continue_on_error",
          agents: ["shout", "link", "pack", "break", "raise", "keep", "think"],
          routes: [{ to: "hold" }],
        },
      ],
      output: {
        shouted: "{{ all.outputs.shout.stdout }}",
        kept: "{{ all.outputs.keep }}",
        thought: "{{ all.outputs.think }}",
      },
    }),
  );
}

/** Every way in which a text may stand in bytes: as it is, and in base64 at each of the three offsets. */
function formsOf(text: string): string[] {
  const pieces = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), Buffer.from(text)])
      .toString("base64")
      .slice(Math.ceil((offset * 8) / 6), -4),
  );
  // Shorter pieces turn up in sealed bytes by chance.
  const encoded = [Buffer.from(text).toString("hex"), ...pieces].filter((piece) => piece.length >= 8);
  return [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text), ...encoded];
}

function findForms(bytes: Buffer, texts: readonly string[]): string[] {
  return texts.flatMap(formsOf).filter((form) => bytes.includes(form));
}

let place: Place;
const shown: string[] = [];
let halfway: ReadonlyMap<string, { readonly bytes: Buffer; readonly mode: number }>;

beforeAll(async () => {
  place = new Place();
  const file = writeLeaky(place);
  const temporary = place.path("tmp");
  mkdirSync(temporary);
  const environment = { TOKEN: SECRET, TMPDIR: temporary };
  const underUmask = (words: readonly string[]) =>
    place.startProgram(
      "sh",
      ["-c", 'umask 000; exec "$@"', "sh", process.execPath, place.program, ...words],
      environment,
    );
  // Killed in the middle, so that what lies there between two steps is looked at too.
  const running = underUmask(["run", file, "--task", TASK]);
  const isOver = (): boolean => readLedger(place).includes("hold") || running.child.exitCode !== null;
  await until("the last step runs", isOver);
  running.child.kill("SIGKILL");
  const killed = await running.done;
  shown.push(`run: ${killed.signal ?? ""}\n${killed.stdout}${killed.stderr}`);
  halfway = place.take("outputs");
  place.write("go", "");
  for (const words of [
    ["resume", TASK],
    ["show", TASK],
    ["show", TASK, "--json"],
    ["events", TASK],
    ["events", TASK, "--json"],
    ["checkpoints", "list", TASK],
    ["checkpoints", "show", `${TASK}:latest`],
    ["debug", "replay", "--checkpoint", `${TASK}:latest`],
    ["debug", "diff-checkpoints", "--task", TASK, "--from", "1", "--to", "latest", "--all"],
    ["keys", "show", TASK],
    ["list", "--debug"],
  ]) {
    const result = await underUmask(words).done;
    shown.push(`${words.join(" ")}: ${result.code}\n${result.stdout}${result.stderr}`);
  }
});

describe("secrets", () => {
  it("would be found by the search, in each of its forms", () => {
    const hide = (text: string): Buffer => Buffer.concat([Buffer.from([0, 1]), Buffer.from(text), Buffer.from([2])]);
    expect(findForms(hide(SECRET), [SECRET])).toContain(SECRET);
    for (const before of ["", "u", "us"]) {
      expect(findForms(hide(Buffer.from(`${before}${SECRET} and more`).toString("base64")), [SECRET])).toHaveLength(1);
    }
    expect(findForms(hide(encodeURIComponent(SECRET)), [SECRET])).toHaveLength(1);
    expect(findForms(hide("nothing of it"), [SECRET])).toEqual([]);
  });

  it("the workflow has run to its end, and what it says is there", () => {
    expect(shown[0]).toMatch(/^run: SIGKILL/);
    expect(shown[1]).toMatch(/^resume silent: 3/);
    expect(shown.join("\n")).toContain("[redacted:env:");
    expect(shown[3]).toContain(WORDS.answer);
  });

  it("stand in no byte of the run folder, of state, of settings or of temporary folders", () => {
    for (const folder of ["outputs", "state", "config", "home", "tmp"]) {
      for (const [path, { bytes }] of place.take(folder))
        expect([path, findForms(bytes, [SECRET])]).toEqual([path, []]);
    }
    for (const [path, { bytes }] of halfway) expect([path, findForms(bytes, [SECRET])]).toEqual([path, []]);
    const said = readFileSync(place.path("outputs", TASK, "final", "said.txt"), "utf8");
    expect(said).toMatch(/^\[redacted:env:[0-9a-f]{8}\]\s*$/);
  });

  it("are shown by no verb, in no error and in no log", () => {
    for (const text of shown)
      expect([text.slice(0, 60), findForms(Buffer.from(text), [SECRET])]).toEqual([text.slice(0, 60), []]);
  });
});

describe("what lies below checkpoints/", () => {
  const checkpoints = () =>
    [...place.take("outputs", TASK, "checkpoints"), ...halfway].filter(([path]) => path.includes("/checkpoints/"));

  it("holds no plain text of inputs, outputs, prompts or answers, and no key", () => {
    const key = readFileSync(place.path("config", "keys", "default.key"), "utf8").split("\n")[1] ?? "";
    const texts = [...Object.values(WORDS), "leak.mjs", "leaky", "shout", key];
    expect(checkpoints().length).toBeGreaterThan(8);
    for (const [path, { bytes }] of checkpoints()) {
      expect([path, findForms(bytes, texts)]).toEqual([path, []]);
      expect([path, bytes.includes(Buffer.from(key, "base64"))]).toEqual([path, false]);
    }
  });

  it("holds a sealed blob of the large output", () => {
    expect(checkpoints().filter(([path]) => path.includes("/blobs/")).length).toBeGreaterThan(0);
  });

  it("is for its owner alone, also under umask 000, and so is all else of the task", () => {
    const modes = new Map<string, string>();
    const look = (path: string): void => {
      const stat = lstatSync(path);
      modes.set(path, (stat.mode & 0o777).toString(8));
      if (stat.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
    };
    for (const folder of ["outputs", "config", "state"]) look(place.path(folder));
    const isFolder = (path: string): boolean => lstatSync(path).isDirectory();
    const wrong = [...modes].filter(([path, mode]) => mode !== (isFolder(path) ? "700" : "600"));
    expect(wrong).toEqual([]);
  });

  it("leaves no temporary file behind, neither there nor in the temporary folder", () => {
    const all = [...place.take("outputs"), ...place.take("tmp")].map(([path]) => path);
    expect(all.filter((path) => path.endsWith(".tmp") || path.startsWith(place.path("tmp")))).toEqual([]);
    expect(existsSync(place.path("tmp"))).toBe(true);
  });
});
