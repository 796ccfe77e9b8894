/** The programs: how each is installed, and how it is told to ask our server and nobody else. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { reasonOf } from "../proofs/failure-reason.mjs";

const FOLDER = join(import.meta.dirname, "programs");
export const BIN_FOLDER = join(FOLDER, "node_modules", ".bin");
const INSTALL_MS_MAX = 900_000;
const START_MS_MAX = 120_000;

/**
 * By profile: the package; a further step of its installation; the model; what it is asked to be let do; the variables of
 * its profile; those of the step; files of its own, below the home folder; and where its sessions are there.
 *
 * Each switches off what a program would tell its vendor, and its updates, and asks as seldom again as it lets itself be told.
 */
export const PROGRAMS = {
  claude: {
    package: "@anthropic-ai/claude-code",
    finish: "install.cjs",
    sessions: ".claude/projects",
    model: "claude-sonnet-4-5",
    args: ["--allowedTools", "Read"],
    variables: ({ url, key }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
    env: { CLAUDE_CODE_MAX_RETRIES: "0" },
    files: () => ({}),
    hasCost: true,
  },
  codex: {
    package: "@openai/codex",
    sessions: ".codex/sessions",
    model: "gpt-5.1",
    args: ["--skip-git-repo-check"],
    variables: ({ key }) => ({ CODEX_API_KEY: key }),
    env: {},
    files: ({ url }) => ({ ".codex/config.toml": codexSettings(url) }),
  },
  gemini: {
    package: "@google/gemini-cli",
    sessions: ".gemini/tmp",
    model: "gemini-2.5-flash",
    args: [],
    variables: ({ url, key }) => ({
      GEMINI_API_KEY: key,
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
    env: {},
    files: () => ({ ".gemini/settings.json": JSON.stringify(GEMINI_SETTINGS) }),
  },
  copilot: {
    package: "@github/copilot",
    sessions: ".copilot/session-state",
    model: "gpt-4.1",
    args: [],
    variables: ({ url, key }) => ({
      COPILOT_OFFLINE: "true",
      COPILOT_MODEL: "gpt-4.1",
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: key,
    }),
    env: {},
    files: () => ({}),
    tellsNoTokens: true,
    beginsLostSession: true,
  },
};

const codexSettings = (url) => `model_provider = "here"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.here]
name = "here"
base_url = "${url}/v1"
env_key = "CODEX_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
`;

const GEMINI_SETTINGS = {
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 1 },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  security: { auth: { selectedType: "gemini-api-key" } },
};

const { dependencies: VERSIONS } = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8"));
const placeOf = (name) => join(FOLDER, "node_modules", PROGRAMS[name].package);

/** Why it cannot be had; `undefined` when it is there and starts. No script of a package runs but the one named above. */
export function installProgram(name) {
  const { package: id, finish } = PROGRAMS[name];
  // Claude asks for a newer Node to be installed by, and does not run on it. Silence would leave a failure without a reason.
  const flags = [
    "--engine-strict=false",
    "--loglevel=error",
    "--no-package-lock",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
  ];
  try {
    if (!isInstalled(name))
      execFileSync("npm", ["install", "--no-save", ...flags], { cwd: FOLDER, stdio: QUIET, timeout: INSTALL_MS_MAX });
    if (finish !== undefined) execFileSync(process.execPath, [finish], { cwd: placeOf(name), stdio: QUIET });
    const said = execFileSync(join(BIN_FOLDER, name), ["--version"], { encoding: "utf8", timeout: START_MS_MAX });
    return said.includes(VERSIONS[id]) ? undefined : `it says that it is ${said.trim()}, not ${VERSIONS[id]}`;
  } catch (error) {
    return reasonOf(error);
  }
}

const QUIET = ["ignore", "ignore", "pipe"];
export const versionOf = (name) => VERSIONS[PROGRAMS[name].package];

function isInstalled(name) {
  const manifest = join(placeOf(name), "package.json");
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === versionOf(name);
}

export function writeFiles(name, home, server) {
  for (const [file, text] of Object.entries(PROGRAMS[name].files(server))) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), text);
  }
}
