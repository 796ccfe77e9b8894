/** A place whose workflows ask a raw server of model answers. */
import { onTestFinished } from "vitest";
import { openPlace, type CommandPlace } from "./command-place.js";
import { answer, openRawServer, type RawReply, type RawServer } from "./raw-server.js";

export const MODEL_KEY = "canary-7f3a9b1c5d2e";

export interface ModelPlaceParts {
  readonly replies: readonly RawReply[];
  readonly flow?: string;
  readonly settings?: string;
  /** Beside the model's key. */
  readonly environment?: Readonly<Record<string, string>>;
}

export const ONE_STEP = `workflow: {name: ask, runtime: {provider: local, default_model: m}}
steps: [{name: work, prompt: "hello"}]
`;
export const RUN_FLOW = ["run", "flow.yaml", "--task", "t"];

export async function openModelPlace({
  replies,
  flow = ONE_STEP,
  settings = "",
  environment = {},
}: ModelPlaceParts): Promise<{ readonly place: CommandPlace; readonly server: RawServer }> {
  const server = await openRawServer(...replies);
  onTestFinished(() => server.close());
  const place = openPlace({ MODEL_KEY, ...environment });
  place.write("flow.yaml", flow);
  place.write(
    "splashdown.config.yaml",
    `providers: {local: {type: openai-compatible, base_url: "${server.url}", key_variable: MODEL_KEY}}\n${settings}`,
  );
  return { place, server };
}

export const limited =
  (headers: Readonly<Record<string, string>>, status = 429): RawReply =>
  (socket) =>
    answer(socket, status, headers, '{"error":{"message":"slow down"}}');
