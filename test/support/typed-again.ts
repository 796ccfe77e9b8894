/** A program with an effect ledger that types the same run again and again, over any store. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { defineWorkflow, openSplashdown, type OpenOptions, type RunView, type Splashdown } from "../../src/index.js";
import type { RunOptions } from "../../src/runtime/contract.js";
import { createOwnEnvironment } from "./own-environment.js";
import { realClock } from "./real-clock.js";

export interface Typist {
  readonly folder: string;
  /** What really happened, in order. */
  readonly ledger: string[];
  readonly splashdown: Splashdown;
  /** Notices of warnings and infos, in order. */
  readonly said: string[];
  /** Another process, as far as a test in one process has one. */
  readonly open: (options?: OpenOptions) => Promise<Splashdown>;
  /** The same command once more. */
  readonly type: (workflow: object, more?: Partial<RunOptions>) => Promise<RunView>;
  /** The wall moves on by so much. */
  readonly wait: (ms: number) => void;
}

/** `store` is `memory`, `file`, `sqlite` or `pglite`. */
export async function openTypist(store = "memory"): Promise<Typist> {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-again-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  let offsetMs = 0;
  const clock = { ...realClock, nowMs: () => realClock.nowMs() + offsetMs };
  const address =
    store === "memory" ? "memory:" : `${store}:${join(folder, "outputs", store === "file" ? "" : "tasks.db")}`;
  const said: string[] = [];
  const log = {
    debug: () => undefined,
    info: (text: string) => said.push(text),
    warn: (text: string) => said.push(text),
  };
  const open = async (options: OpenOptions = {}): Promise<Splashdown> => {
    const environment = createOwnEnvironment(folder, { USER: "ada" });
    const opened = await openSplashdown({ store: address, environment, clock, log, ...options });
    onTestFinished(() => opened.close());
    return opened;
  };
  const splashdown = await open();
  const type = (workflow: object, more: Partial<RunOptions> = {}): Promise<RunView> =>
    splashdown.run({ workflow, ...more });
  const wait = (ms: number): void => {
    offsetMs += ms;
  };
  return { folder, ledger: [], splashdown, said, open, type, wait };
}

export interface PayingOptions {
  /** The last step fails as long as this says so. */
  readonly isBroken?: () => boolean;
  readonly gate?: boolean;
  readonly limits?: object;
  readonly during?: () => Promise<void> | void;
}

/** `draft` is paid for, then perhaps a gate, then `mail` acts outside. */
export function definePaying(ledger: string[], { isBroken, gate, limits, during }: PayingOptions = {}): object {
  const asks = gate === true ? [{ name: "ok", type: "human_gate", prompt: "Send?", options: ["send", "drop"] }] : [];
  return defineWorkflow({
    workflow: {
      name: "paying",
      input: { to: { type: "string", default: "ada", required: false } },
      ...(limits === undefined ? {} : { limits }),
    },
    steps: [
      {
        name: "draft",
        function: async () => {
          ledger.push("draft");
          await during?.();
          return "text";
        },
      },
      ...asks.map((step) => ({ ...step, depends_on: ["draft"] })),
      {
        name: "mail",
        depends_on: [gate === true ? "ok" : "draft"],
        function: () => {
          if (isBroken?.() === true) throw new Error("the post office is closed");
          ledger.push("mail");
          return "sent";
        },
      },
    ],
  } as never);
}
