/**
 * The session of an installed agent: what is kept of it, and where a call goes on in one.
 *
 * It is a milestone of the step. A later attempt of a visit goes on in it, and so does the next visit where the step says
 * so: never after a roll-back to before it, and never in a fork, as the agent keeps one session for all who go on in it.
 */
import { isJsonObject, type JsonObject } from "../../base/json.js";
import type { Usage } from "../../engine/model/events.js";
import type { StepWork } from "../../engine/model/ports.js";
import type { ChildResult } from "../../process/contract.js";
import type { CliResult } from "./line-readers.js";

export interface AgentSession {
  readonly id: string;
  /** That were counted of it: some agents tell those of the whole session. */
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** This visit has worked in it before. */
  readonly isInterrupted: boolean;
  /** The visit before has: it has seen the briefing. */
  readonly isOfEarlierVisit: boolean;
}

/** The session that a call goes on in; `undefined` where it begins one. */
export function findSession({ milestone, earlierMilestone }: StepWork, cli: string): AgentSession | undefined {
  const [own, earlier] = [read(milestone, cli), read(earlierMilestone, cli)];
  const session = own ?? earlier;
  if (session === undefined) return undefined;
  return { ...session, isInterrupted: own !== undefined, isOfEarlierVisit: session.id === earlier?.id };
}

type Kept = Pick<AgentSession, "id" | "tokensIn" | "tokensOut">;

function read(milestone: StepWork["milestone"], cli: string): Kept | undefined {
  const state = milestone?.state;
  if (!isJsonObject(state) || state["cli"] !== cli) return undefined;
  const { session: id, tokens_in: tokensIn, tokens_out: tokensOut } = state;
  if (typeof id !== "string") return undefined;
  return { id, tokensIn: Number(tokensIn ?? 0), tokensOut: Number(tokensOut ?? 0) };
}

/** What is kept of a session; tokens of an agent that tells those of the whole session. */
export function keepSession(cli: string, { id, tokensIn, tokensOut }: Kept): JsonObject {
  return { cli, session: id, ...(tokensIn + tokensOut === 0 ? {} : { tokens_in: tokensIn, tokens_out: tokensOut }) };
}

/** The part of the tokens of a whole session that one call has used. */
export function usageSince(before: AgentSession | undefined, usage: Usage): Usage {
  const { tokensIn = 0, tokensOut = 0 } = before ?? {};
  return {
    ...usage,
    tokensIn: Math.max(0, usage.tokensIn - tokensIn),
    tokensOut: Math.max(0, usage.tokensOut - tokensOut),
  };
}

/** Source: what claude, codex and gemini say of a session that is not there; copilot begins one of that name. */
const LOST_WORDS =
  /no conversation found|no rollout found|thread not loaded|invalid session identifier|no (previous )?sessions?\b.*\b(found|matched)/i;

/** The agent does not know the session any more: it was removed, or is on another machine. It has done nothing then. */
export function isSessionLost({ exitCode, stderrTail }: ChildResult, { failure, text }: CliResult): boolean {
  if (exitCode === 0 || text !== undefined) return false;
  return LOST_WORDS.test(`${failure ?? ""}\n${stderrTail}`);
}
