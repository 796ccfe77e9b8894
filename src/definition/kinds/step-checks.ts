/** Faults that steps of several kinds may have. */
import type { Step } from "../../schema/generated/workflow.js";
import type { NodeSite } from "./build-context.js";

export function noteTwins(step: Step, [one, other]: readonly [keyof Step, keyof Step], site: NodeSite): void {
  if (step[one] === undefined || step[other] === undefined) return;
  const message = `${one} and ${other} mean the same`;
  site.context.faults.add({
    code: "conflict",
    path: [...site.at, other],
    message,
    suggestion: "keep one",
    atKey: true,
  });
}

/** What is asked for a time says what it answers then: nothing is picked in silence. */
export function requireTimeoutPair(step: Step, site: NodeSite): void {
  const hasTimeout = step.timeout !== undefined || step.timeout_seconds !== undefined;
  if (hasTimeout === (step.on_timeout !== undefined)) return;
  const { faults } = site.context;
  if (hasTimeout) {
    const message = `${step.name ?? "the step"} has a timeout, and nothing says what is answered then`;
    faults.add({
      code: "missing_key",
      path: [...site.at, "timeout"],
      message,
      suggestion: "add on_timeout",
      atKey: true,
    });
    return;
  }
  const message = "on_timeout goes with timeout";
  faults.add({
    code: "conflict",
    path: [...site.at, "on_timeout"],
    message,
    suggestion: "add timeout: 24h",
    atKey: true,
  });
}

export function noteDoubles(
  names: readonly string[],
  { what, at, site }: { readonly what: string; readonly at: NodeSite["at"]; readonly site: NodeSite },
): void {
  names.forEach((name, index) => {
    if (names.indexOf(name) === index) return;
    site.context.faults.add({
      code: "duplicate_name",
      path: [...at, index],
      message: `two ${what} ${name}`,
      suggestion: "rename one",
    });
  });
}

/** What a specialist's briefing keeps to; `undefined` for a prompt that goes as it is. */
export function chooseBriefing(step: Step, { at, context, isSpecialist }: NodeSite): number | undefined {
  if (isSpecialist === true) return step.briefing === false ? undefined : context.briefingTokensMax;
  if (step.briefing !== undefined)
    context.faults.add({
      path: [...at, "briefing"],
      message: "only specialists of a phase are briefed",
      suggestion: "remove it: the prompt goes as it is",
      atKey: true,
    });
  return undefined;
}
