/**
 * The dashboard's server: pages from memory, calls of the table of routes, and one stream of what changes. It holds no
 * state of tasks: every answer is read from the store.
 *
 * Owns: the order in which a request is judged, read, served and answered. Who may call is gate.ts's, what a call does
 * routes.ts', what a stream tells list-feed.ts' and task-feed.ts'.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ERROR_TABLE, type ErrorCode } from "../base/error-table.js";
import { errorCodeOf, messageOf, SplashdownError } from "../base/errors.js";
import type { JsonObject } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import { INDEX, type Assets } from "./assets.js";
import { judgeRequest, type GateSettings, type Refusal } from "./gate.js";
import { ListFeed, type FeedParts } from "./list-feed.js";
import { findRoute, readBody, type RouteContext } from "./routes.js";
import { TaskFeed } from "./task-feed.js";
import { Viewer } from "./viewer.js";

export interface DashboardOptions extends FeedParts, RouteContext {
  readonly assets: Assets;
  readonly token: string;
  readonly readOnly: boolean;
  /** A free port where 0. */
  readonly port: number;
  /** Further `host` or `host:port` that a proxy is reached under. */
  readonly allowedHosts: readonly string[];
  /** A view with its commands complete. */
  readonly complete: (view: unknown) => unknown;
}

export interface RunningDashboard {
  readonly port: number;
  readonly close: () => Promise<void>;
}

const ADDRESS = "127.0.0.1";
const BEAT_MS = 10_000;

/** Source: NEXT-FACES 1.5. No script, style or connection but our own, and no page of another site around ours. */
const SECURITY_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** Listens on this machine alone. Errors: USAGE_INVALID where the port is taken. */
export async function openDashboard(options: DashboardOptions): Promise<RunningDashboard> {
  const hosts = new Set<string>(options.allowedHosts.map((host) => host.toLowerCase()));
  const desk = new Desk(options, { hosts, token: options.token, readOnly: options.readOnly });
  const server = createServer({ requestTimeout: LIMITS.dashboardRequestMs }, (request, response) => {
    void desk.serve(request, response);
  });
  const port = await listen(server, options.port);
  for (const name of [ADDRESS, "localhost", "[::1]"]) hosts.add(`${name}:${port}`);
  return {
    port,
    close: () => {
      desk.close();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new SplashdownError("USAGE_INVALID", `port ${port} cannot be used: ${messageOf(error)}`, { cause: error }),
      ),
    );
    server.listen(port, ADDRESS, () => resolve((server.address() as AddressInfo).port));
  });
}

class Desk {
  readonly #options: DashboardOptions;
  readonly #gate: GateSettings;
  readonly #list: ListFeed;
  readonly #tasks = new Map<string, TaskFeed>();
  readonly #leave = new Set<() => void>();

  constructor(options: DashboardOptions, gate: GateSettings) {
    this.#options = options;
    this.#gate = gate;
    this.#list = new ListFeed(options);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    try {
      const url = readTarget(request.url);
      const head = { method: request.method ?? "", path: url.pathname, headers: request.headers };
      const refusal = judgeRequest(head, this.#gate);
      if (refusal !== undefined) return this.#refuse(response, refusal);
      if (!url.pathname.startsWith("/api/")) return this.#servePage(request, response, url.pathname);
      if (url.pathname === "/api/stream" && head.method === "GET") return this.#stream(response, url.searchParams);
      await this.#call(request, response, url);
    } catch (error) {
      this.#fail(response, error);
    }
  }

  close(): void {
    for (const leave of this.#leave) leave();
  }

  async #call(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const method = request.method === "HEAD" ? "GET" : (request.method ?? "");
    const found = findRoute(method, url.pathname);
    if (found === undefined)
      return this.#refuse(response, { status: 404, code: "DASHBOARD_REFUSED", message: `there is no ${url.pathname}` });
    const body = method === "POST" ? readBody(await readText(request)) : {};
    const view = await found.route.act(this.#options, { params: found.params, query: url.searchParams, body });
    this.#answer(response, 200, this.#options.complete(view));
  }

  /** A deep link of the page begins with the same document; a file that is not in the list is not there. */
  #servePage(request: IncomingMessage, response: ServerResponse, path: string): void {
    const { assets } = this.#options;
    const asset = assets.get(path) ?? (path.includes(".") ? undefined : assets.get(INDEX));
    if (asset === undefined)
      return this.#refuse(response, { status: 404, code: "DASHBOARD_REFUSED", message: `there is no ${path}` });
    const isPacked = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
    response.writeHead(200, {
      "content-type": asset.type,
      vary: "accept-encoding",
      ...(isPacked ? { "content-encoding": "gzip" } : {}),
    });
    response.end(request.method === "HEAD" ? undefined : isPacked ? asset.packed : asset.plain);
  }

  #stream(response: ServerResponse, query: URLSearchParams): void {
    if (this.#leave.size >= LIMITS.dashboardStreamsMax) {
      const message = `${LIMITS.dashboardStreamsMax} pages look at this dashboard already; close one`;
      return this.#refuse(response, { status: 503, code: "DASHBOARD_REFUSED", message });
    }
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    const viewer = new Viewer({
      write: (text) => response.write(text),
      onDrain: (resume) => void response.on("drain", resume),
    });
    const { clock } = this.#options;
    const beat = (): void => viewer.send("beat", { at: new Date(clock.nowMs()).toISOString() });
    beat();
    const task = query.get("task");
    const parts = [
      clock.every(BEAT_MS, beat),
      this.#list.join(viewer),
      ...(task === null ? [] : [this.#feedOf(task).join(viewer)]),
    ];
    const leave = (): void => {
      if (!this.#leave.delete(leave)) return;
      for (const end of parts) end();
      response.end();
    };
    this.#leave.add(leave);
    response.on("close", leave);
  }

  #feedOf(task: string): TaskFeed {
    const known = this.#tasks.get(task);
    if (known !== undefined) return known;
    const feed = new TaskFeed(this.#options, task, () => this.#tasks.delete(task));
    this.#tasks.set(task, feed);
    return feed;
  }

  #refuse(response: ServerResponse, { status, code, message }: Refusal): void {
    this.#answer(response, status, { error: new SplashdownError(code, message).toJSON() });
  }

  #fail(response: ServerResponse, error: unknown): void {
    const code = errorCodeOf(error) ?? "INTERNAL";
    if (code === "INTERNAL") this.#options.log.warn(`the dashboard failed: ${messageOf(error)}`);
    const told = error instanceof SplashdownError ? error : new SplashdownError("INTERNAL", messageOf(error));
    this.#answer(response, statusOf(code), this.#options.complete({ error: told.toJSON() }));
  }

  #answer(response: ServerResponse, status: number, view: unknown): void {
    if (response.headersSent) return void response.end();
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
    response.end(response.req.method === "HEAD" ? undefined : JSON.stringify(view ?? null));
  }
}

/** Errors: USAGE_INVALID for what is no address. */
function readTarget(target = "/"): URL {
  try {
    return new URL(target, "http://dashboard.invalid");
  } catch {
    throw new SplashdownError("USAGE_INVALID", "the address of the request cannot be read");
  }
}

/** Statuses of the protocol by the statuses that a command ends with. */
const STATUS_BY_EXIT: Readonly<Record<number, number>> = { 2: 400, 10: 404, 11: 409, 12: 423, 13: 422, 15: 422 };
const STATUS_BY_CODE: Partial<Readonly<Record<ErrorCode, number>>> = {
  QUESTION_CLOSED: 409,
  VALUE_TOO_LARGE: 413,
  VALUE_UNSUPPORTED: 400,
};

function statusOf(code: ErrorCode): number {
  return STATUS_BY_CODE[code] ?? STATUS_BY_EXIT[ERROR_TABLE[code].exitStatus] ?? 500;
}

/** Errors: VALUE_TOO_LARGE. */
async function readText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    sizeBytes += part.length;
    if (sizeBytes > LIMITS.dashboardBodyBytesMax)
      throw new SplashdownError("VALUE_TOO_LARGE", `a body may have ${LIMITS.dashboardBodyBytesMax} bytes at most`);
    parts.push(part);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    throw new SplashdownError("USAGE_INVALID", "the body is not UTF-8");
  }
}

/** What the page asks first. */
export function describeSession(of: {
  readonly version: string;
  readonly store: string;
  readonly user: string;
  readonly readOnly: boolean;
}): JsonObject {
  return { version: of.version, store: of.store, user: of.user, read_only: of.readOnly };
}
