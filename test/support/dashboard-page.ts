/** A dashboard's server in this process, and a page that talks to it over loopback. */
import { onTestFinished } from "vitest";
import { silentLog } from "../../src/base/log.js";
import type { Asset } from "../../src/dashboard/assets.js";
import { describeSession, openDashboard, type DashboardOptions } from "../../src/dashboard/server.js";
import type { Splashdown } from "../../src/index.js";
import { systemClock } from "../../src/runtime/platform/system-clock.js";
import { until } from "./real-clock.js";

export interface Answered {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

export interface StreamMessage {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

export interface DashboardPage {
  readonly port: number;
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Answered>;
  readonly post: (path: string, body: unknown) => Promise<Answered>;
  /** What a stream told so far, and its end. */
  readonly watch: (query: string) => Promise<{ readonly messages: StreamMessage[]; readonly leave: () => void }>;
  /** Waits for a message of the stream. */
  readonly find: (messages: StreamMessage[], fits: (message: StreamMessage) => boolean) => Promise<StreamMessage>;
}

const TOKEN = "t".repeat(32);
const page: Asset = {
  type: "text/html; charset=utf-8",
  plain: Buffer.from("<!doctype html>"),
  packed: Buffer.from("gz"),
};

export async function openDashboardPage(
  splashdown: Splashdown,
  more: Partial<DashboardOptions> = {},
): Promise<DashboardPage> {
  const running = await openDashboard({
    splashdown,
    clock: systemClock,
    log: silentLog,
    assets: new Map([["/index.html", page]]),
    token: TOKEN,
    readOnly: false,
    port: 0,
    allowedHosts: [],
    by: "dashboard:ada",
    session: describeSession({ version: "1.2.3", store: "memory:", user: "ada", readOnly: false }),
    resume: () => Promise.resolve("started"),
    complete: (view) => view,
    ...more,
  });
  onTestFinished(() => running.close());
  const address = `http://127.0.0.1:${running.port}`;
  const own = { authorization: `Bearer ${TOKEN}` };
  const read = async (response: Response): Promise<Answered> => ({
    status: response.status,
    headers: response.headers,
    body: (response.headers.get("content-type")?.startsWith("application/json") === true
      ? await response.json()
      : { text: await response.text() }) as Record<string, unknown>,
  });
  return {
    port: running.port,
    get: async (path, headers = own) => read(await fetch(`${address}${path}`, { headers })),
    post: async (path, body) =>
      read(
        await fetch(`${address}${path}`, {
          method: "POST",
          headers: { ...own, "content-type": "application/json" },
          body: typeof body === "string" ? body : JSON.stringify(body),
        }),
      ),
    watch: async (query) => {
      const over = new AbortController();
      const response = await fetch(`${address}/api/stream${query}`, { headers: own, signal: over.signal });
      const messages: StreamMessage[] = [];
      void collect(response, messages).catch(() => undefined);
      onTestFinished(() => over.abort());
      return { messages, leave: () => over.abort() };
    },
    find: async (messages, fits) => {
      await until("the stream tells it", () => messages.some(fits));
      return messages.find(fits) as StreamMessage;
    },
  };
}

async function collect(response: Response, messages: StreamMessage[]): Promise<void> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    const blocks = (rest + decoder.decode(part, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, event = "", data = ""] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      messages.push({ event, data: JSON.parse(data) as Record<string, unknown> });
    }
  }
}
