/**
 * How installed agents are called without a terminal, and which output each gives.
 *
 * Owns: the profiles that come along. None of them lets an agent change anything: what it may do is said with `arguments`
 * in the settings or `args` of the step, in its own words. Prompts go to stdin: an argument is short, and others see it.
 * Source: the vendors' pages and help on their command lines: claude (headless mode), codex (exec), gemini (headless mode),
 * copilot; each tried with the program itself, see proof/installed-agents.mjs.
 */
import { SplashdownError } from "../../base/errors.js";
import { readClaude, readCodex, readCopilot, readGemini, type LineReader } from "./line-readers.js";
import type { CliAgentSettings } from "../outcome/contract.js";

/** What one call is about. */
export interface CliCall {
  readonly prompt: string;
  readonly systemPrompt?: string | undefined;
  readonly model?: string | undefined;
  /** A session of the agent that goes on. */
  readonly session?: string | undefined;
  /** A UUID for the session, where the caller may choose it: the one that goes on, else a new one. */
  readonly chosenSession: string;
  readonly more: readonly string[];
}

export interface CliProfile {
  readonly command: readonly string[];
  readonly variables: readonly string[];
  readonly createReader: (call: CliCall) => LineReader;
  /** The tokens it tells are those of its whole session, not of one call. */
  readonly isUsageOfSession?: true;
  /** It does not say that a session is gone but begins one of that name: nothing may be taken for known to it. */
  readonly beginsLostSession?: true;
  /** Arguments, and what it reads from stdin. */
  readonly format: (call: CliCall) => { readonly arguments: readonly string[]; readonly input: string };
}

const flag = (name: string, value: string | undefined): string[] => (value === undefined ? [] : [name, value]);
/** For those that take no system prompt. */
const joined = ({ systemPrompt, prompt }: CliCall): string =>
  systemPrompt === undefined ? prompt : `${systemPrompt}\n\n${prompt}`;

/** What all of them go by where they reach their service, and a person's word on being watched. */
const NETWORK_VARIABLES = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "SSL_CERT_FILE",
  "NODE_EXTRA_CA_CERTS",
  "DO_NOT_TRACK",
];

const PROFILES: Readonly<Record<NonNullable<CliAgentSettings["like"]>, CliProfile>> = {
  claude: {
    command: ["claude"],
    variables: [
      "ANTHROPIC_API_KEY",
      "ANTHROPIC_AUTH_TOKEN",
      "ANTHROPIC_BASE_URL",
      "CLAUDE_CODE_OAUTH_TOKEN",
      "CLAUDE_CONFIG_DIR",
      "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
      "DISABLE_TELEMETRY",
      "DISABLE_ERROR_REPORTING",
      "DISABLE_AUTOUPDATER",
      ...NETWORK_VARIABLES,
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
    variables: ["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_HOME", ...NETWORK_VARIABLES],
    createReader: readCodex,
    isUsageOfSession: true,
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
    variables: [
      "GEMINI_API_KEY",
      "GOOGLE_API_KEY",
      "GOOGLE_CLOUD_PROJECT",
      "GOOGLE_GENAI_USE_VERTEXAI",
      "GOOGLE_GEMINI_BASE_URL",
      "GEMINI_CLI_TRUST_WORKSPACE",
      ...NETWORK_VARIABLES,
    ],
    createReader: readGemini,
    format: (call) => ({
      arguments: [
        "--output-format",
        "stream-json",
        ...flag("--model", call.model),
        ...flag("--resume", call.session),
        ...call.more,
      ],
      input: joined(call),
    }),
  },
  copilot: {
    command: ["copilot"],
    variables: [
      "COPILOT_GITHUB_TOKEN",
      "GH_TOKEN",
      "GITHUB_TOKEN",
      "COPILOT_HOME",
      "COPILOT_OFFLINE",
      "COPILOT_MODEL",
      "COPILOT_PROVIDER_BASE_URL",
      "COPILOT_PROVIDER_TYPE",
      "COPILOT_PROVIDER_API_KEY",
      "COPILOT_PROVIDER_BEARER_TOKEN",
      "COPILOT_PROVIDER_WIRE_API",
      "COPILOT_PROVIDER_MODEL_ID",
      "COPILOT_PROVIDER_WIRE_MODEL",
      ...NETWORK_VARIABLES,
    ],
    beginsLostSession: true,
    // It tells its session at its end alone.
    createReader: ({ chosenSession }) => readCopilot(chosenSession),
    format: (call) => ({
      arguments: [
        "--output-format",
        "json",
        "--silent",
        "--no-ask-user",
        ...flag("--model", call.model),
        ...flag("--session-id", call.chosenSession),
        ...call.more,
      ],
      input: joined(call),
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
