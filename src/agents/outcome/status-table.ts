/**
 * The table of HTTP statuses and whether to ask again: one for requests, models, installed agents and scripted answers.
 *
 * When to ask again is read in providers/retry-time.ts. Source: RFC 9110 15; RFC 6585 4; 529 is Anthropic's "overloaded".
 */

/** `limit`: too much was asked, wait. `passing`: another try may mend it. `final`: the same would be answered again. */
export type StatusMeaning = "limit" | "passing" | "final";

export interface StatusSetting {
  /** The answer says when to come again, or stands inside a stream, where no header can: then 503 is a limit. */
  readonly isTimed?: boolean;
  /** A model is asked: it keeps no state that 409 could be in conflict with, and 501 is a gateway's. */
  readonly isModel?: boolean;
}

const LIMITS: ReadonlySet<number> = new Set([429, 529]);
const UNAVAILABLE = 503;
const PASSING: ReadonlySet<number> = new Set([408, 425]);
const CONFLICT = 409;
/** Not implemented, and a version that is not spoken. */
const FINAL_OF_SERVERS: ReadonlySet<number> = new Set([501, 505]);
const NOT_LET_IN: ReadonlySet<number> = new Set([401, 403]);

export function readStatusMeaning(status: number, { isTimed, isModel }: StatusSetting = {}): StatusMeaning {
  if (LIMITS.has(status) || (status === UNAVAILABLE && isTimed === true)) return "limit";
  if (PASSING.has(status) || (status === CONFLICT && isModel === true)) return "passing";
  const isServers = status >= 500 && (isModel === true || !FINAL_OF_SERVERS.has(status));
  return isServers ? "passing" : "final";
}

/** The caller is not let in, because of its key or its account. */
export function isNotLetIn(status: number): boolean {
  return NOT_LET_IN.has(status);
}
