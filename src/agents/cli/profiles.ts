/**
 * How installed agents are called without a terminal, and which output each gives.
 *
 * Owns: the profiles that come along. None of them lets an agent change anything: what it may do is said with `arguments`
 * in the settings or `args` of the step, in its own words.
 * Source: the vendors' pages on their command lines: claude (headless mode), codex (exec), gemini (headless mode), and
 * copilot, whose lines are not described by its vendor and were taken from what others observed of version 1.0.13.
 */
import { SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import { readClaude, readCodex, readCopilot, readGemini, type LineReader } from "./line-readers.js";

/** A profile in the settings file. */
export interface CliAgentSettings {
  readonly like?: "claude" | "codex" | "gemini" | "copilot";
  readonly command?: readonly string[];
  readonly arguments?: readonly string[];
  readonly variables?: readonly string[];
}

/** What one call is about. */
export interface CliCall {
  readonly prompt: string;
  readonly systemPrompt?: string | undefined;
  readonly model?: string | undefined;
  /** A session of the agent that goes on. */
  readonly session?: string | undefined;
  readonly more: readonly string[];
}

export interface CliProfile {
  readonly command: readonly string[];
  readonly variables: readonly string[];
  readonly createReader: () => LineReader;
  /** Of a briefing, where the prompt is an argument. */
  readonly briefingTokensMax?: number;
  /** Arguments, and what it reads from stdin. */
  readonly format: (call: CliCall) => { readonly arguments: readonly string[]; readonly input?: string };
}

const flag = (name: string, value: string | undefined): string[] => (value === undefined ? [] : [name, value]);
/** For those that take no system prompt. */
const joined = ({ systemPrompt, prompt }: CliCall): string =>
  systemPrompt === undefined ? prompt : `${systemPrompt}\n\n${prompt}`;

const PROFILES: Readonly<Record<NonNullable<CliAgentSettings["like"]>, CliProfile>> = {
  claude: {
    command: ["claude"],
    variables: [
      "ANTHROPIC_API_KEY",
      "ANTHROPIC_AUTH_TOKEN",
      "ANTHROPIC_BASE_URL",
      "CLAUDE_CODE_OAUTH_TOKEN",
      "CLAUDE_CONFIG_DIR",
    ],
    createReader: readClaude,
    format: ({ prompt, systemPrompt, model, session, more }) => ({
      arguments: [
        "--print",
        "--output-format",
        "stream-json",
        "--verbose",
        ...flag("--model", model),
        ...flag("--append-system-prompt", systemPrompt),
        ...flag("--resume", session),
        ...more,
      ],
      input: prompt,
    }),
  },
  codex: {
    command: ["codex"],
    variables: ["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_HOME"],
    createReader: readCodex,
    format: (call) => ({
      arguments: [
        "exec",
        "--json",
        ...flag("--model", call.model),
        ...call.more,
        ...(call.session === undefined ? [] : ["resume", call.session]),
        "-",
      ],
      input: joined(call),
    }),
  },
  gemini: {
    command: ["gemini"],
    variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_GENAI_USE_VERTEXAI"],
    createReader: readGemini,
    briefingTokensMax: LIMITS.argumentBriefingTokensMax,
    format: (call) => ({
      arguments: [
        "--output-format",
        "stream-json",
        ...flag("--model", call.model),
        ...flag("--resume", call.session),
        ...call.more,
        "--prompt",
        joined(call),
      ],
    }),
  },
  copilot: {
    command: ["copilot"],
    variables: ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_HOME"],
    createReader: readCopilot,
    briefingTokensMax: LIMITS.argumentBriefingTokensMax,
    format: (call) => ({
      arguments: [
        "--output-format",
        "json",
        "--silent",
        "--no-ask-user",
        ...flag("--model", call.model),
        ...flag("--resume", call.session),
        ...call.more,
        "--prompt",
        joined(call),
      ],
    }),
  },
};

/** The profile of a name, with what the settings say. Errors: PROGRAM_NOT_FOUND for a name that nobody knows. */
export function findProfile(settings: Readonly<Record<string, CliAgentSettings>>, name: string): CliProfile {
  const own = Object.hasOwn(settings, name) ? (settings[name] ?? {}) : {};
  const like = own.like ?? name;
  const base = Object.hasOwn(PROFILES, like) ? PROFILES[like as keyof typeof PROFILES] : undefined;
  if (base === undefined) {
    const known = [...new Set([...Object.keys(PROFILES), ...Object.keys(settings)])].join(", ");
    const text = `there is no agent ${name}; known are ${known}; add one under cli_agents in splashdown.config.yaml, with like`;
    throw new SplashdownError("PROGRAM_NOT_FOUND", text, { details: { program: name } });
  }
  const more = own.arguments ?? [];
  return {
    ...base,
    command: own.command ?? base.command,
    variables: own.variables ?? base.variables,
    format: (call) => base.format({ ...call, more: [...more, ...call.more] }),
  };
}

/** Variables that a person has agents given: what stands in one may be a key, whatever it is called. */
export function listCliVariables(settings: Readonly<Record<string, CliAgentSettings>>): string[] {
  return Object.values(settings).flatMap(({ variables = [] }) => variables);
}
