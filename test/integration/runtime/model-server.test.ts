/**
 * Each reason why a model's answer ends, in each form: what becomes of the step, what it cost, and what is told of it.
 */
import { describe, expect, it, onTestFinished } from "vitest";
import { openSplashdownInMemory } from "../../support/library-place.js";
import { SERVER_FORMS, type Saying, type ServerForm } from "../../support/model-server.js";
import { openRawServer } from "../../support/raw-server.js";

interface Row {
  readonly name: string;
  /** By provider; the last one repeats. Absent: that provider has no such reason. */
  readonly openai?: readonly Saying[];
  readonly anthropic?: readonly Saying[];
  /** Forms that cannot say it. */
  readonly isStreamOnly?: true;
  readonly status: "done" | "failed";
  /** The text of the answer, or the words of the failure. */
  readonly told: string | RegExp;
  readonly tokens: number | Readonly<Record<ServerForm["provider"], number>>;
  readonly requests: number;
  /** In the second request. */
  readonly asked?: string;
}

const both = (openai: string, anthropic: string, more: Omit<Saying, "stop"> = { text: "fine" }) => ({
  openai: [{ ...more, stop: openai }],
  anthropic: [{ ...more, stop: anthropic }],
});
const then = ({ openai, anthropic }: ReturnType<typeof both>, next: string) => ({
  openai: [...openai, { text: next, stop: "stop" }],
  anthropic: [...anthropic, { text: next, stop: "end_turn" }],
});
const CUT_INPUT = '{"id": 5, "te';

const ROWS: readonly Row[] = [
  { name: "its end", ...both("stop", "end_turn"), status: "done", told: "fine", tokens: 5, requests: 1 },
  { name: "a stop sequence", ...both("stop", "stop_sequence"), status: "done", told: "fine", tokens: 5, requests: 1 },
  {
    name: "[public D kin] the limit of tokens, once",
    ...then(both("length", "max_tokens"), " and whole"),
    status: "done",
    told: "fine and whole",
    tokens: 10,
    requests: 2,
    asked: "Continue exactly where it stopped",
  },
  {
    name: "[public D kin] the limit of tokens, each time",
    ...both("length", "max_tokens"),
    status: "failed",
    told: "cut at the limit of tokens, 5 times; raise max_tokens of the step",
    tokens: 25,
    requests: 5,
  },
  {
    name: "[public D kin] the limit of tokens before a word",
    ...both("length", "max_tokens", { text: "" }),
    status: "failed",
    told: "cut at the limit of tokens, before it had begun; raise max_tokens",
    tokens: 5,
    requests: 1,
  },
  {
    name: "[public D kin] the limit of tokens within the input of a tool, once",
    ...then(both("length", "max_tokens", { input: CUT_INPUT }), "fine"),
    isStreamOnly: true,
    status: "done",
    told: "fine",
    tokens: 10,
    requests: 2,
    asked: "your answer was cut at the limit of tokens",
  },
  {
    name: "[public D kin] the limit of tokens within the input of a tool, each time",
    ...both("length", "max_tokens", { input: CUT_INPUT }),
    isStreamOnly: true,
    status: "failed",
    told: "cut at the limit of tokens, within the call of a tool, 5 times; raise max_tokens",
    tokens: 25,
    requests: 5,
  },
  {
    name: "[public P kin] the provider's filter",
    openai: [{ text: "half", stop: "content_filter" }],
    status: "failed",
    told: "was ended by the provider's filter (content_filter)",
    tokens: 5,
    requests: 1,
  },
  {
    name: "[public P kin] a refusal as a reason",
    anthropic: [{ text: "half", stop: "refusal" }],
    status: "failed",
    told: "was ended by the provider's filter (refusal)",
    tokens: 5,
    requests: 1,
  },
  {
    name: "[public P kin] a refusal in words",
    openai: [{ refusal: "I cannot help with that.", stop: "stop" }],
    status: "failed",
    told: "is a refusal: I cannot help with that.",
    tokens: 5,
    requests: 1,
  },
  {
    name: "nothing said, once",
    ...then(both("stop", "end_turn", { text: "" }), "fine"),
    status: "done",
    told: "fine",
    tokens: 10,
    requests: 2,
  },
  {
    name: "nothing said, each time",
    ...both("stop", "end_turn", { text: " " }),
    status: "failed",
    told: "the model's answer is empty",
    tokens: 15,
    requests: 3,
  },
  {
    name: "the call of a tool",
    ...then(both("tool_calls", "tool_use", { input: '{"id": 5}' }), "fine"),
    status: "done",
    told: "fine",
    tokens: 10,
    requests: 2,
    asked: "seen 5",
  },
  {
    name: "[public D kin] a pause of its turn",
    anthropic: [
      { text: "fine", stop: "pause_turn" },
      { text: " and whole", stop: "end_turn" },
    ],
    status: "done",
    told: "fine and whole",
    tokens: 10,
    requests: 2,
  },
  {
    name: "[public D kin] a context window that is full",
    anthropic: [{ text: "half", stop: "model_context_window_exceeded" }],
    status: "failed",
    told: "filled the context window of the model; ask for less",
    tokens: 5,
    requests: 1,
  },
  {
    name: "a reason that nobody knows",
    ...both("eos_token", "something_new"),
    status: "done",
    told: "fine",
    tokens: 5,
    requests: 1,
  },
  {
    name: "[public P kin] a stream that breaks off",
    openai: [{ text: "half", stop: null }],
    anthropic: [{ text: "half", stop: null }],
    isStreamOnly: true,
    status: "failed",
    told: /was cut before its end|ended without a finish reason/,
    // It may go well later: three attempts. Anthropic tells its count at the beginning, too.
    tokens: { "openai-compatible": 0, anthropic: 12 },
    requests: 3,
  },
];

const cells = SERVER_FORMS.flatMap((form) =>
  ROWS.flatMap((row) => {
    const sayings = form.provider === "anthropic" ? row.anthropic : row.openai;
    const cannot = sayings === undefined || (form.isWhole && row.isStreamOnly === true);
    return cannot ? [] : [{ name: row.name, form: form.name, row, sayings, server: form }];
  }),
);

describe("an answer of a model that ended with", () => {
  it.each(cells)("$name, in $form", async ({ row, sayings, server: form }) => {
    const server = await openRawServer(...sayings.map(form.say));
    onTestFinished(() => server.close());
    const splashdown = await openSplashdownInMemory(form.environment(server.url));
    const look = {
      name: "look",
      input: { id: { type: "integer" } },
      effects: "none" as const,
      function: ({ input }: { readonly input: { readonly id: number } }) => `seen ${input.id}`,
    };
    const step = { name: "s", provider: form.provider, model: "m", prompt: "go", tools: ["look"] };
    const view = await splashdown.run({
      workflow: { workflow: { name: "ends" }, tools: [look], steps: [step], output: { said: "{{ s.output.result }}" } },
      task: "t",
    });
    const tokens = typeof row.tokens === "number" ? row.tokens : row.tokens[form.provider];
    expect({ status: view.status, requests: server.requests.length, ...view.metrics }).toMatchObject({
      status: row.status,
      requests: row.requests,
      tokens_used: tokens,
      api_calls: row.requests,
    });
    const shown = await splashdown.show("t");
    if (row.status === "done") expect(view.output).toEqual({ said: row.told });
    else expect([view.reason, shown.reason]).toEqual([expect.stringMatching(wordsOf(row.told)), view.reason]);
    if (row.asked !== undefined) expect(server.requests[1]).toContain(row.asked);
  });

  it("is tried in every form", () => {
    expect(cells.length).toBeGreaterThan(45);
  });
});

function wordsOf(told: string | RegExp): RegExp {
  return typeof told === "string" ? new RegExp(told.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")) : told;
}
