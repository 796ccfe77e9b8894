/** A key command in memory: wraps by keeping the key, and lets a test change its answers. */
import type { KeyCommandResult, KeyCommandRunner } from "../../src/vault/key-command.js";

interface Request {
  readonly operation: string;
  readonly key?: string;
  readonly wrapped?: string;
  readonly context: { readonly task: string; readonly slot: string };
}

export interface WrappingCommandOptions {
  readonly unwrapsTo?: (key: Buffer) => Buffer;
  /** What is written and seen, for assertions. */
  readonly seen?: string[];
  readonly result?: (request: Request, normal: KeyCommandResult) => KeyCommandResult;
}

export function createWrappingCommand(options: WrappingCommandOptions = {}): KeyCommandRunner {
  const kept = new Map<string, string>();
  return async ({ input }) => {
    options.seen?.push(input);
    const request = JSON.parse(input) as Request;
    const place = `${request.context.task}/${request.context.slot}`;
    let answer: unknown;
    if (request.operation === "wrap") {
      kept.set(place, request.key ?? "");
      answer = { wrapped: `kept:${place}` };
    } else {
      const key = Buffer.from(kept.get(place) ?? "", "base64");
      answer = { key: (options.unwrapsTo ?? ((same) => same))(key).toString("base64") };
    }
    const normal = { exitCode: 0, stdout: `${JSON.stringify(answer)}\n`, stderrTail: "", timedOut: false };
    return options.result?.(request, normal) ?? normal;
  };
}
