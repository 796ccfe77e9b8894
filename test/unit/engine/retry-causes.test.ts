import { describe, expect, it } from "vitest";
import type { RetryCause } from "../../../src/definition/model/values.js";
import type { StepError } from "../../../src/engine/model/events.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { machine, model, workflow } from "../../support/workflow-builder.js";

/** How often a step is performed that fails once in a way. */
function attempts(error: Partial<StepError>, on?: readonly RetryCause[]): number {
  const retry = { maxAttempts: 3, backoff: "fixed", delayMs: 10, delayMsMax: 10, jitter: 0 } as const;
  const flow = workflow(machine("main", [model("agent", { retry: on === undefined ? retry : { ...retry, on } })]));
  const harness = new EngineHarness(flow, {
    perform: ({ attempt }) => (attempt === 1 ? failed("no", error) : done("yes")),
  });
  harness.start();
  harness.finish();
  return harness.performed.length;
}

const PROVIDER = { code: "MODEL_FAILED" };
const SILENT = { code: "MODEL_FAILED", details: { reason: "idle" } };
const TIMEOUT = { code: "STEP_TIMEOUT" };
const SERVER = { code: "TOOL_SERVER_FAILED" };
const OTHER = { code: "STEP_OUTPUT_INVALID" };

describe("retry_on", () => {
  it.each([
    ["a provider's failure", PROVIDER, ["provider_error"], 2],
    ["a tool server's failure", SERVER, ["provider_error"], 2],
    ["a timeout", TIMEOUT, ["timeout"], 2],
    ["silence", SILENT, ["timeout"], 2],
    ["a provider's failure where only timeouts count", PROVIDER, ["timeout"], 1],
    ["silence where only a provider's failures count", SILENT, ["provider_error"], 1],
    ["a wrong answer where both are named", OTHER, ["provider_error", "timeout"], 1],
    ["a wrong answer where nothing is named", OTHER, undefined, 2],
    ["what nothing can mend", { ...PROVIDER, retryable: false }, ["provider_error"], 1],
  ] as const)("decides on %s", (_what, error, on, expected) => {
    expect(attempts(error, on)).toBe(expected);
  });
});
