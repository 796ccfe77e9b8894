/**
 * The providers there are: how each is spoken to, where it is found, and where its key is looked for.
 *
 * Data only. `api: openai` is the chat form that most servers speak, `anthropic` is Anthropic's; both are built in. All
 * others are packages of the AI SDK that a person installs. Names of variables are the vendors' own.
 */
export interface ProviderFacts {
  readonly api: "openai" | "anthropic" | "package";
  readonly baseUrl?: string;
  /** The first that is set counts, before `baseUrl`. */
  readonly urlVariables?: readonly string[];
  /** What is added to an address from a variable that names a bare host. */
  readonly urlPath?: string;
  readonly keyVariables: readonly string[];
  /** Nothing can be asked of it without a key, at its own address. */
  readonly needsKey?: boolean;
  readonly package?: string;
  /** The range of versions that fits the SDK built in. */
  readonly packageVersion?: string;
}

const openai = (baseUrl: string, variable: string): ProviderFacts => ({
  api: "openai",
  baseUrl,
  keyVariables: [variable],
  needsKey: true,
});
const installed = (name: string, packageVersion: string, keyVariables: readonly string[]): ProviderFacts => ({
  api: "package",
  package: `@ai-sdk/${name}`,
  packageVersion,
  keyVariables,
});

export const PROVIDERS: Readonly<Record<string, ProviderFacts>> = {
  openai: { ...openai("https://api.openai.com/v1", "OPENAI_API_KEY"), urlVariables: ["OPENAI_BASE_URL"] },
  "openai-compatible": { api: "openai", urlVariables: ["OPENAI_BASE_URL"], keyVariables: ["OPENAI_API_KEY"] },
  anthropic: {
    api: "anthropic",
    baseUrl: "https://api.anthropic.com",
    urlVariables: ["ANTHROPIC_BASE_URL"],
    keyVariables: ["ANTHROPIC_API_KEY"],
    needsKey: true,
  },
  ollama: {
    api: "openai",
    baseUrl: "http://127.0.0.1:11434/v1",
    urlVariables: ["OLLAMA_HOST"],
    urlPath: "/v1",
    keyVariables: ["OLLAMA_API_KEY"],
  },
  lmstudio: {
    api: "openai",
    baseUrl: "http://127.0.0.1:1234/v1",
    urlVariables: ["LMSTUDIO_BASE_URL"],
    keyVariables: ["LMSTUDIO_API_KEY"],
  },
  vllm: {
    api: "openai",
    baseUrl: "http://127.0.0.1:8000/v1",
    urlVariables: ["VLLM_BASE_URL"],
    keyVariables: ["VLLM_API_KEY"],
  },
  openrouter: openai("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
  deepseek: openai("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
  groq: openai("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
  mistral: openai("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
  xai: openai("https://api.x.ai/v1", "XAI_API_KEY"),
  "openai-responses": {
    ...installed("openai", "3", ["OPENAI_API_KEY"]),
    urlVariables: ["OPENAI_BASE_URL"],
    needsKey: true,
  },
  google: installed("google", "3", ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"]),
  "google-vertex": installed("google-vertex", "4", []),
  azure: installed("azure", "3", ["AZURE_API_KEY"]),
  "amazon-bedrock": installed("amazon-bedrock", "4", []),
  cohere: installed("cohere", "3", ["COHERE_API_KEY"]),
  /** Ollama's own interface; `ollama` is the one in OpenAI's form. A later version of the package wants a newer SDK. */
  "ollama-native": {
    api: "package",
    package: "ollama-ai-provider-v2",
    packageVersion: "3",
    baseUrl: "http://127.0.0.1:11434/api",
    urlVariables: ["OLLAMA_HOST"],
    urlPath: "/api",
    keyVariables: [],
  },
  perplexity: installed("perplexity", "3", ["PERPLEXITY_API_KEY"]),
};

/** Names that other tools have for the same. */
export const PROVIDER_ALIASES: Readonly<Record<string, string>> = {
  claude: "anthropic",
  "claude-agent-sdk": "anthropic",
  gemini: "google",
  "lm-studio": "lmstudio",
};
