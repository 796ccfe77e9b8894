/**
 * The calls of the dashboard as data: a method, a path, what is done. Every answer is a view of runtime, the same object
 * that `--json` prints.
 */
import { SplashdownError } from "../base/errors.js";
import { parseExactJson } from "../base/exact-json.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";
import type { Splashdown } from "../runtime/contract.js";
import type { StartOutcome } from "../runtime/platform/background-starts.js";

export interface RouteContext {
  readonly splashdown: Splashdown;
  /** Goes on with a task in a process of its own. Shape: words of the command line after `resume`. */
  readonly resume: (task: string, words: readonly string[]) => Promise<StartOutcome>;
  /** Who acts through this server, as records name it. */
  readonly by: string;
  readonly session: JsonObject;
}

export interface RouteCall {
  /** Parts of the path that stand for names, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: JsonObject;
}

export interface Route {
  readonly method: "GET" | "POST";
  /** `:name` stands for one decoded part. */
  readonly pattern: string;
  readonly act: (context: RouteContext, call: RouteCall) => Promise<unknown>;
}

const read = (pattern: string, act: Route["act"]): Route => ({ method: "GET", pattern, act });
const write = (pattern: string, act: Route["act"]): Route => ({ method: "POST", pattern, act });

export const ROUTES: readonly Route[] = [
  read("/api/session", async ({ session }) => session),
  read("/api/tasks", ({ splashdown }) => splashdown.list()),
  read("/api/questions", ({ splashdown }) => splashdown.questions()),
  read("/api/metrics", ({ splashdown }) => splashdown.metrics()),
  read("/api/doctor", ({ splashdown }) => splashdown.doctor()),
  read("/api/diff", ({ splashdown }, { query }) =>
    splashdown.debug.diffCheckpoints(wanted(query, "from"), wanted(query, "to")),
  ),
  read("/api/tasks/:task", ({ splashdown }, { params, query }) => {
    const at = numberIn(query, "at");
    return splashdown.show(task(params), at === undefined ? {} : { at });
  }),
  read("/api/tasks/:task/graph", ({ splashdown }, { params }) => splashdown.graph({ task: task(params) })),
  read("/api/tasks/:task/timeline", ({ splashdown }, { params }) => splashdown.timeline(task(params))),
  read("/api/tasks/:task/confidence", ({ splashdown }, { params }) => splashdown.confidence(task(params))),
  read("/api/tasks/:task/metrics", ({ splashdown }, { params }) => splashdown.metrics(task(params))),
  read("/api/tasks/:task/audit", ({ splashdown }, { params }) => splashdown.audit.show(task(params))),
  read("/api/tasks/:task/checkpoints", ({ splashdown }, { params }) => splashdown.checkpoints.list(task(params))),
  read("/api/tasks/:task/checkpoints/:ref", ({ splashdown }, { params, query }) =>
    splashdown.checkpoints.show(`${task(params)}:${params["ref"] ?? ""}`, { values: query.get("values") === "1" }),
  ),
  read("/api/tasks/:task/steps/:step", ({ splashdown }, { params }) =>
    splashdown.showStep(task(params), params["step"] ?? ""),
  ),
  read("/api/tasks/:task/events", async ({ splashdown }, { params, query }) => readEvents(splashdown, params, query)),
  read("/api/tasks/:task/plan", ({ splashdown }, { params, query }) => {
    const from = query.get("from");
    return splashdown.resume({ task: task(params), planOnly: true, ...(from === null ? {} : { from }) });
  }),
  write("/api/tasks/:task/answer", ({ splashdown, by }, { params, body }) => {
    const value = body["value"];
    const [question, more] = [textIn(body, "question"), textIn(body, "more")];
    return splashdown.answer({
      task: task(params),
      answer: required(body, "answer"),
      by,
      ...(question === undefined ? {} : { question }),
      ...(more === undefined ? {} : { more }),
      ...(value === undefined ? {} : { value }),
    });
  }),
  write("/api/tasks/:task/request", ({ splashdown, by }, { params, body }) => {
    const note = textIn(body, "note");
    return splashdown.request(task(params), readRequest(body), { by, ...(note === undefined ? {} : { note }) });
  }),
  write("/api/tasks/:task/guide", ({ splashdown, by }, { params, body }) => {
    const step = textIn(body, "step");
    return splashdown.guide({
      task: task(params),
      text: required(body, "text"),
      by,
      ...(step === undefined ? {} : { step }),
    });
  }),
  write("/api/tasks/:task/resume", async ({ resume }, { params, body }) => {
    const from = textIn(body, "from");
    const name = task(params);
    return { task: name, outcome: await resume(name, from === undefined ? [] : [`--from=${from}`]) };
  }),
  write("/api/tasks/:task/fork", ({ splashdown }, { params, body }) => {
    const [name, set] = [textIn(body, "task"), body["set"]];
    if (set !== undefined && !isJsonObject(set)) throw invalid("set takes an object: values by path");
    return splashdown.fork(task(params), {
      from: required(body, "from"),
      ...(name === undefined ? {} : { task: name }),
      ...(set === undefined ? {} : { set }),
    });
  }),
  write("/api/tasks/:task/pin", ({ splashdown }, { params, body }) => {
    const note = textIn(body, "note");
    return splashdown.checkpoints.pin(referenceIn(params, body), note === undefined ? {} : { note });
  }),
  write("/api/tasks/:task/unpin", ({ splashdown }, { params, body }) =>
    splashdown.checkpoints.unpin(referenceIn(params, body)),
  ),
];

export interface FoundRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** `undefined` where no call is so named. Errors: USAGE_INVALID for a part that is no percent-encoded text. */
export function findRoute(method: string, path: string): FoundRoute | undefined {
  const parts = path.split("/");
  for (const route of ROUTES) {
    const pattern = route.pattern.split("/");
    const fits = pattern.every((part, at) => part.startsWith(":") || part === parts[at]);
    if (route.method !== method || pattern.length !== parts.length || !fits) continue;
    const named = pattern.flatMap((part, at) =>
      part.startsWith(":") ? [[part.slice(1), decode(parts[at] ?? "")]] : [],
    );
    return { route, params: Object.fromEntries(named) as Record<string, string> };
  }
  return undefined;
}

/** Errors: USAGE_INVALID; VALUE_UNSUPPORTED for what JSON cannot carry exactly. */
export function readBody(text: string): JsonObject {
  let value: JsonValue;
  try {
    value = text === "" ? {} : parseExactJson(text);
  } catch (error) {
    if (error instanceof SplashdownError) throw error;
    throw invalid("the body is not JSON");
  }
  if (!isJsonObject(value)) throw invalid("the body must be an object");
  return value;
}

const EVENTS_AT_ONCE = 1000;

/** From one number on, so many at most: the next call goes on after the last one. */
async function readEvents(splashdown: Splashdown, params: RouteCall["params"], query: URLSearchParams) {
  const from = numberIn(query, "from");
  const events = [];
  for await (const event of splashdown.events(task(params), from === undefined ? {} : { from })) {
    events.push(event);
    if (events.length === EVENTS_AT_ONCE) break;
  }
  return events;
}

function task(params: RouteCall["params"]): string {
  return params["task"] ?? "";
}

function referenceIn(params: RouteCall["params"], body: JsonObject): string {
  return `${task(params)}:${required(body, "ref")}`;
}

function readRequest(body: JsonObject): "pause" | "stop" | "checkpoint" {
  const request = required(body, "request");
  if (request === "pause" || request === "stop" || request === "checkpoint") return request;
  throw invalid("request takes pause, stop or checkpoint");
}

function textIn(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || typeof value === "string") return value;
  throw invalid(`${name} takes a text`);
}

function required(body: JsonObject, name: string): string {
  const value = textIn(body, name);
  if (value === undefined) throw invalid(`${name} is missing`);
  return value;
}

function wanted(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null) throw invalid(`${name} is missing`);
  return value;
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw invalid(`${name} takes the number of an event, from 1`);
  return number;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid("the path is not percent-encoded text");
  }
}

function invalid(message: string): SplashdownError {
  return new SplashdownError("USAGE_INVALID", message);
}
