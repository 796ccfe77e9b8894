/** An agent: the protocol's own client, over the pipes of the built program. */
import { Client, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { realpathSync } from "node:fs";
import { onTestFinished } from "vitest";
import { PROGRAM } from "./built-program.js";
import type { CommandPlace } from "./command-place.js";
import { listWorkingIn } from "./process-probe.js";
import { until } from "./real-clock.js";

export interface Told {
  readonly isError: boolean;
  /** What is in the answer for programs. */
  readonly result: Record<string, unknown>;
  readonly next: string;
  readonly error: { readonly code: string; readonly message: string; readonly hint: string };
  readonly text: string;
}

export interface AgentCall {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number; readonly message?: string }) => void;
}

export class McpAgent {
  constructor(
    readonly client: Client,
    private readonly transport: StdioClientTransport,
    private readonly limitMs: number,
  ) {}

  /** Of the server. */
  get pid(): number {
    return this.transport.pid ?? 0;
  }

  /** As an agent does it that gives up after its limit: it calls again with the same words. */
  async call(name: string, input: object = {}, about: AgentCall = {}): Promise<Told> {
    for (;;) {
      try {
        return readAnswer(
          await this.client.callTool({ name, arguments: { ...input } }, { timeout: this.limitMs, ...about }),
        );
      } catch (error) {
        const isOverdue = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
        if (!isOverdue || about.signal?.aborted === true) throw error;
      }
    }
  }

  /** Waits again and again, until nobody runs the task, or it asks something. */
  async wait(task: string, seconds = 1): Promise<Told> {
    for (;;) {
      const told = await this.call("wait_for_task", { task, seconds });
      const { status = told.isError ? "none" : "starting", open_questions: open } = told.result;
      if (status !== "starting" && (status !== "running" || open !== 0)) return told;
    }
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}

const NOTHING = { result: {}, next: "", error: { code: "", message: "", hint: "" } };

function readAnswer({ content, structuredContent = {}, isError }: Awaited<ReturnType<Client["callTool"]>>): Told {
  const [first] = content;
  return {
    ...NOTHING,
    ...(structuredContent as Partial<Told>),
    isError: isError === true,
    text: first?.type === "text" ? first.text : "",
  };
}

/** Inside a test: an agent whose calls end after `limitMs`; its server ends with the test. */
export async function openAgent(
  place: CommandPlace,
  { args = [], limitMs = 60_000 }: { readonly args?: readonly string[]; readonly limitMs?: number } = {},
): Promise<McpAgent> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, "mcp", "--root", place.folder, ...args],
    env: { PATH: process.env["PATH"] ?? "", ...place.env },
    cwd: "/",
    stderr: "ignore",
  });
  const client = new Client({ name: "an-agent", version: "1" });
  await client.connect(transport);
  const agent = new McpAgent(client, transport, limitMs);
  onTestFinished(async () => {
    await agent.close();
    await endAllIn(realpathSync(place.folder));
  });
  return agent;
}

/** What a server started belongs to nobody: a start that had nothing to do may be at its end still, a task may be held. */
async function endAllIn(folder: string): Promise<void> {
  await until("nothing works in the folder of the test", () => {
    const pids = listWorkingIn(folder).filter((pid) => pid !== process.pid);
    for (const pid of pids) endProcess(pid);
    return pids.length === 0;
  });
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
