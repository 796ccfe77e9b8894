/** What is asked of each agent, over its own wire. A scenario says each of its checks: `say(what, isGood, more)`. */
import { join } from "node:path";
import { until } from "./place.mjs";
import { PROGRAMS } from "./programs.mjs";

const STATUS_DONE = 0;
const STATUS_FAILED = 4;
const STATUS_UNKNOWN_OUTCOME = 22;
const STATUS_PAUSED = 75;
export const FILE_TEXT = "export const add = (a, b) => a - b;\n";
export const OUTPUT = { verdict: "bad", why: "it subtracts" };
const TOKENS_OF_CALL = { in: 100, out: 20 };
/** Longer than an argument of a program may be. */
const LONG_CHARS = 200_000;
/** An agent that was started asks its service long before, on a slow machine too. */
const TIMEOUT_SECONDS = 30;

const SCHEMA = { verdict: { type: "string", enum: ["good", "bad"] }, why: { type: "string" } };

/** `name`: the task; `step`: what differs from a plain step. */
function writeFlow({ place, agent }, name, step) {
  const { model, args, env } = PROGRAMS[agent];
  const all = { name: "judge", cli: agent, model, args, env, output: SCHEMA, ...step };
  const { phases, evaluate, ...plain } = all;
  const steps = phases ? { phases: [{ name: "review", specialists: [plain], evaluate }] } : { steps: [plain] };
  place.write(`${name}.yaml`, JSON.stringify({ workflow: { name }, ...steps }));
}

const complaintOf = ({ status, stderr }) => (status === STATUS_DONE ? "" : `${status}, ${stderr.trim()}`);

async function readEvents({ place }, task, type) {
  const { json } = await place.run("events", task, "--json");
  return (json ?? []).filter((entry) => entry.type === type).map(({ event }) => event);
}

async function answer(room, say) {
  const { place, agent, server } = room;
  const { hasCost, tellsNoTokens } = PROGRAMS[agent];
  writeFlow(room, "answer", { phases: true, prompt: "Is a.mjs right?", effects: "none" });
  const end = await place.run("run", "answer.yaml", "--task", "answer", "--json");
  say("reads a file and answers in the form that is asked for", isOutput(end), complaintOf(end));
  say("its tool's result went to its model", server.works.at(-1)?.includes(FILE_TEXT.trim().slice(0, 20)));
  const [completed] = await readEvents(room, "answer", "step_completed");
  const { value, parts } = completed?.confidence ?? {};
  say("says how sure it is in four parts", Object.values(parts ?? {}).length === 4 && value > 0.8, `${value}`);
  const { tokensIn, tokensOut, costMicroUsd: cost } = completed?.usage ?? {};
  const isCounted = tokensIn === 2 * TOKENS_OF_CALL.in && tokensOut === 2 * TOKENS_OF_CALL.out;
  const told = `${tokensIn} in, ${tokensOut} out, ${cost ?? "no"} micro-dollars`;
  if (tellsNoTokens) say("tells no tokens of a provider of one's own", tokensIn === 0, told);
  else say("its tokens are counted as its service said them", isCounted, told);
  if (hasCost) say("its cost is counted", cost > 0, told);
}

const isOutput = ({ status, json }) =>
  status === STATUS_DONE && JSON.stringify(json?.output?.judge ?? json?.output) === JSON.stringify(OUTPUT);

async function long(room, say) {
  const { place, server } = room;
  writeFlow(room, "long", { prompt: `${"word ".repeat(LONG_CHARS / 5)}the-last-word` });
  const end = await place.run("run", "long.yaml", "--task", "long", "--json");
  const isWhole = server.works.at(-1)?.includes("the-last-word");
  say(`takes a prompt of ${LONG_CHARS} characters`, isOutput(end) && isWhole, complaintOf(end));
}

async function session(room, say) {
  const { place, server, agent } = room;
  server.behave("words once");
  writeFlow(room, "session", { prompt: "first-prompt", retry: { max_attempts: 2, delay_seconds: 0 } });
  const end = await place.run("run", "session.yaml", "--task", "session", "--json");
  say("is asked again after an answer that is no JSON", isOutput(end), complaintOf(end));
  const last = server.works.at(-1) ?? "";
  const isResumed = last.includes("I would rather say it in words.") && last.includes("You were interrupted");
  say("goes on in its session", isResumed);
  const ends = [
    ...(await readEvents(room, "session", "step_failed")),
    ...(await readEvents(room, "session", "step_completed")),
  ];
  const tokens = ends.map(({ usage }) => usage?.tokensIn);
  if (!PROGRAMS[agent].tellsNoTokens)
    say(
      "no token of the session is counted twice",
      tokens.length === 2 && tokens.every((count) => count === 2 * TOKENS_OF_CALL.in),
      tokens.join(" + "),
    );
}

/** Scored 60 first, then 95; `and`: what is done before that. */
const scoredTwice = (and) => ({
  scorers: [
    {
      dimension: "quality",
      command: ["sh", "-c", `[ "$0" = 1 ] || { echo 95; exit; }; ${and}; echo 60`, "{{ phase.iteration }}"],
    },
  ],
});
const NEWS = "Go on in this conversation";
const countOf = (text, words) => text.split(words).length - 1;

async function iterate(room, say) {
  const { place, server, agent } = room;
  const { tellsNoTokens, beginsLostSession } = PROGRAMS[agent];
  writeFlow(room, "iterate", { phases: true, prompt: "first-prompt", effects: "none", evaluate: scoredTwice("true") });
  const end = await place.run("run", "iterate.yaml", "--task", "iterate", "--json");
  say("improves an answer that was judged", isOutput(end), complaintOf(end));
  const last = server.works.at(-1) ?? "";
  const briefings = beginsLostSession ? 2 : 1;
  const isTold = countOf(last, "first-prompt") === 2 && countOf(last, "# Task: ") === briefings;
  say("in its session, told what is new", isTold && (beginsLostSession || countOf(last, NEWS) === 1));
  const tokens = (await readEvents(room, "iterate", "step_completed")).flatMap(({ usage }) => usage?.tokensIn ?? []);
  const expected = [2 * TOKENS_OF_CALL.in, TOKENS_OF_CALL.in];
  const isCounted = tokens.length === 2 && tokens.every((count, at) => [expected[at], expected[0]].includes(count));
  if (!tellsNoTokens) say("no token of the iteration before is counted again", isCounted, tokens.join(" + "));
}

async function lost(room, say) {
  const { place, server, agent } = room;
  const sessions = join(place.work, "..", "home", PROGRAMS[agent].sessions);
  const evaluate = scoredTwice(`rm -r ${sessions}`);
  writeFlow(room, "lost", { phases: true, prompt: "first-prompt", effects: "none", evaluate });
  const end = await place.run("run", "lost.yaml", "--task", "lost", "--json");
  say("goes on where its session was removed", isOutput(end), complaintOf(end));
  const last = server.works.at(-1) ?? "";
  say("told everything anew", countOf(last, "first-prompt") === 1 && countOf(last, "# Task: ") === 1);
  const isTold = PROGRAMS[agent].beginsLostSession || end.stderr.includes(`of ${agent} is gone`);
  say("and says so", isTold, end.stderr);
}

async function refusals(room, say) {
  const { place, server, key } = room;
  const cases = [
    { status: 401, code: "STEP_FAILED", retryable: false },
    { status: 429, code: "MODEL_RATE_LIMITED", retryable: true },
    { status: 500, code: "STEP_FAILED", retryable: true },
  ];
  for (const { status, code, retryable } of cases) {
    server.behave({ status, message: `quoth ${key}` });
    const task = `refused-${status}`;
    writeFlow(room, task, { prompt: "Is a.mjs right?", retry: { max_attempts: 1 } });
    const end = await place.run("run", `${task}.yaml`, "--task", task, "--no-wait", "--json");
    const [failed] = await readEvents(room, task, "step_failed");
    const { error } = failed ?? {};
    const isRight = error?.code === code && error.retryable === retryable && error.message.includes("judge");
    const isEnd = code === "MODEL_RATE_LIMITED" ? end.status === STATUS_PAUSED : end.status === STATUS_FAILED;
    say(`its service answers ${status}: ${code}`, isRight && isEnd, `${end.status}, ${error?.message ?? end.stderr}`);
  }
}

/** Starts a step that is held, once its agent's model was asked the second time. */
async function begin(room, task, step) {
  const { place, server } = room;
  server.behave("hold");
  const worksBefore = server.works.length;
  writeFlow(room, task, { prompt: "first-prompt", ...step });
  const running = place.start("run", `${task}.yaml`, "--task", task);
  await until("the agent works", () => server.works.length >= worksBefore + 2);
  return running;
}

async function kill(room, say) {
  const { place, server } = room;
  const running = await begin(room, "killed", {});
  running.child.kill("SIGKILL");
  await running.ended;
  await until("the agent has ended", () => place.listProcesses().length === 0);
  say("ends with the program that is killed", true);
  server.behave("answer");
  const worksBefore = server.works.length;
  const asked = await place.run("run", "killed.yaml", "--task", "killed");
  const isAsked = asked.status === STATUS_UNKNOWN_OUTCOME && server.works.length === worksBefore;
  say("is asked about, as it may have acted", isAsked, `${asked.status}`);
  const end = await place.run("resume", "killed", "--unknown", "judge=rerun", "--json");
  say("run again it answers", isOutput(end), complaintOf(end));
  const last = server.works.at(-1) ?? "";
  const isResumed = last.split("first-prompt").length > 2 && last.includes("You were interrupted");
  say("in the session that was killed", isResumed);
}

async function timeout(room, say) {
  const { place } = room;
  const running = await begin(room, "slow", { timeout_seconds: TIMEOUT_SECONDS, retry: { max_attempts: 1 } });
  const hasWorked = place.listProcesses().length > 0;
  const { status } = await running.ended;
  const [failed] = await readEvents(room, "slow", "step_failed");
  say(
    "is ended at its timeout",
    status !== STATUS_DONE && failed?.error.code === "STEP_TIMEOUT",
    failed?.error.message,
  );
  say("nothing of it runs any more", hasWorked && place.listProcesses().length === 0);
}

async function secret(room, say) {
  const { place, key } = room;
  const files = place.listFilesWith(key);
  const isSilent = !place.heard.some((text) => text.includes(key));
  say("its key is in no file of ours and in nothing that was printed", files.length === 0 && isSilent, files.join(" "));
}

export const SCENARIOS = { answer, long, session, iterate, lost, refusals, kill, timeout, secret };
