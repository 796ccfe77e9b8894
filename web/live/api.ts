/** Calls to the server that served the page; its errors are those of the command line. */
import { signal } from "@preact/signals";
import { takeToken } from "./token.js";

export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly code: string,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** The server knows another token: it was started anew. */
export const isLockedOut = signal(false);

const token = takeToken();

export function headers(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...more, authorization: `Bearer ${token ?? ""}` };
}

export async function read<T>(path: string): Promise<T> {
  return answerOf<T>(await ask(path, { headers: headers() }));
}

export async function act<T>(path: string, body: object): Promise<T> {
  const options = {
    method: "POST",
    headers: headers({ "content-type": "application/json" }),
    body: JSON.stringify(body),
  };
  return answerOf<T>(await ask(path, options));
}

async function ask(path: string, options: RequestInit): Promise<Response> {
  try {
    return await fetch(`/api/${path}`, { ...options, cache: "no-store", credentials: "omit" });
  } catch {
    throw new ApiError("SERVER_GONE", "the dashboard's server does not answer", "splashdown dashboard");
  }
}

async function answerOf<T>(response: Response): Promise<T> {
  const text = await response.text();
  const body = parse(text);
  if (response.ok && body !== undefined) return body as T;
  isLockedOut.value ||= response.status === 401;
  const told = (body as { readonly error?: { code: string; message: string; hint?: string } } | undefined)?.error;
  throw new ApiError(
    told?.code ?? `HTTP_${response.status}`,
    told?.message ?? `the server answered ${response.status} to ${new URL(response.url).pathname}`,
    told?.hint,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function taskPath(task: string, rest = ""): string {
  return `tasks/${encodeURIComponent(task)}${rest}`;
}

const OUTCOMES = {
  started: "it goes on",
  nothing: "nothing was left to do",
  owned: "another process runs it already",
  late: "it was begun; nothing has been heard of it yet",
} as const;

/** Goes on with a task in a process of its own, from a checkpoint where one is named. Shape: what came of it, in words. */
export async function goOn(task: string, from?: string): Promise<string> {
  const { outcome } = await act<{ readonly outcome: keyof typeof OUTCOMES }>(taskPath(task, "/resume"), { from });
  return OUTCOMES[outcome] ?? outcome;
}
