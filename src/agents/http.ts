/**
 * An http step: one request over the platform's fetch, with the step's idempotency key.
 *
 * Shape: `{status, headers, body}`; header names in lower case; the body is a value where the answer is JSON, else text in
 * the encoding that the answer names (UTF-8 where it names none), bytes where it is no text in that encoding, and null where
 * there is none. A declared output is that of the body. An answer of 400 and more is a failure unless
 * `fail_on_status` is false; 429, and 503 with Retry-After, are a wait until the time that was told.
 * A redirect is followed within its origin and no further; with `fail_on_status` false it is an answer like another.
 * What was sent cannot be called back: a request that ends without an answer may have acted.
 */
import { messageOf, SplashdownError } from "../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import type { HttpStep } from "../definition/model/step.js";
import type { StepOutcome, StepSink, StepWork } from "../engine/model/ports.js";
import type { PerformerDeps } from "./outcome/contract.js";
import { afterAct, cutText, judgeFinished, outputInvalid } from "./outcome/failure.js";
import { computeRetryAtMs } from "./providers/retry-time.js";
import { fetchFollowing, placeOf } from "./providers/own-origin-fetch.js";
import { requireDeclaredOutput } from "./outcome/output-check.js";
import { formatJsonText, formatPlainValue, parsePlainValue } from "../base/plain-value.js";
import { encodeValue } from "../base/json-encoding.js";
import { readEncoded } from "../base/encoded-text.js";
import { showUtf8 } from "../base/utf8-text.js";
import { readStatusMeaning } from "./outcome/status-table.js";

interface AttemptEnds {
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

export async function performHttp(
  deps: PerformerDeps,
  work: StepWork,
  { sink, signal }: AttemptEnds,
): Promise<StepOutcome> {
  if (signal.aborted) return { status: "cancelled", acted: false };
  const limit = limitTime(deps, work, signal);
  const request = prepareRequest(work, limit.signal);
  try {
    const { response, refusal } = await fetchFollowing(request.address, request.init);
    const bytes = await readBody(response, sink);
    const isJudged = (work.definition as HttpStep).failOnStatus;
    if (isJudged && refusal !== undefined) throw refusal;
    if (isJudged && response.status >= 400) throw refusalOf(deps, request, { response, bytes });
    return await judgeFinished(async () => {
      const output = describeResponse(response, bytes);
      await requireDeclaredOutput(deps, work, output["body"] ?? null);
      return { status: "completed", output };
    });
  } catch (error) {
    if (signal.aborted) return { status: "cancelled" };
    if (error instanceof SplashdownError) throw error;
    const why = limit.isOver() ? `no answer within ${LIMITS.httpTimeoutMs} ms` : describeCause(error);
    const failure = noAnswer(request, why);
    throw hasLeft(error) ? afterAct(failure, "maybe") : failure;
  } finally {
    limit.stop();
  }
}

/** A step without a timeout of its own has ours. */
function limitTime({ clock }: PerformerDeps, { definition }: StepWork, signal: AbortSignal) {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  let isOver = false;
  const end = (): void => {
    isOver = true;
    controller.abort();
  };
  const cancel = definition.timeoutMs === undefined ? clock.schedule(LIMITS.httpTimeoutMs, end) : () => undefined;
  const stop = (): void => {
    cancel();
    signal.removeEventListener("abort", abort);
  };
  return { signal: controller.signal, isOver: () => isOver, stop };
}

/** What is sent; a redirect may send it once more. */
interface Prepared {
  readonly method: string;
  readonly address: URL;
  readonly init: RequestInit;
}

/** Errors: STEP_FAILED for what is no address or no header. */
function prepareRequest(work: StepWork, signal: AbortSignal): Prepared {
  const { method, url, query, headers, body } = work.rendered;
  try {
    const address = new URL(textOf(url));
    for (const [name, value] of Object.entries(textsOf(query))) address.searchParams.append(name, value);
    const fields = new Headers(textsOf(headers));
    if (!fields.has("idempotency-key")) fields.set("idempotency-key", work.step.idempotencyKey);
    const hasBody = body !== undefined && body !== null;
    const text = typeof body === "string" ? body : formatJsonText(formatPlainValue(body ?? null));
    if (hasBody && !fields.has("content-type"))
      fields.set("content-type", typeof body === "string" ? "text/plain; charset=utf-8" : "application/json");
    const init = { method: textOf(method), headers: fields, signal, ...(hasBody ? { body: text } : {}) };
    // Judges what fetch would refuse: a body of a GET, a user in the address.
    return { method: new Request(address, init).method, address, init };
  } catch (error) {
    throw new SplashdownError("STEP_FAILED", `the request of ${work.step.path} cannot be made: ${messageOf(error)}`, {
      details: { retryable: false },
    });
  }
}

/** The engine rendered texts. */
function textsOf(value: JsonValue | undefined): Record<string, string> {
  return isJsonObject(value) ? (value as Record<string, string>) : {};
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Errors: VALUE_TOO_LARGE. */
async function readBody(response: Response, sink: StepSink): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  const bytesMax = LIMITS.httpResponseBytesMax;
  for await (const part of response.body ?? []) {
    sink.alive();
    sizeBytes += part.length;
    if (sizeBytes > bytesMax)
      throw afterAct(
        new SplashdownError("VALUE_TOO_LARGE", `the answer has more than ${bytesMax} bytes and was cut off`, {
          details: { limit: bytesMax },
        }),
        "yes",
      );
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function describeResponse(response: Response, bytes: Buffer): JsonObject {
  return {
    status: response.status,
    headers: Object.fromEntries([...response.headers].map(([name, value]) => [name.toLowerCase(), value])),
    body: parseBody(response.headers.get("content-type") ?? "", bytes),
  };
}

/** Errors: STEP_OUTPUT_INVALID for JSON that is no text; VALUE_UNSUPPORTED for JSON that cannot be held exactly. */
function parseBody(type: string, bytes: Buffer): JsonValue {
  if (bytes.length === 0) return null;
  const isJson = /\bjson\b/i.test(type);
  const read = readEncoded(bytes, /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1]);
  if ("problem" in read && isJson) throw outputInvalid(`the answer ${read.problem}`, bytes.toString("latin1"));
  if ("problem" in read) return encodeValue(new Uint8Array(bytes));
  const { text } = read;
  if (!isJson) return text;
  try {
    return parsePlainValue(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

interface Answered {
  readonly response: Response;
  readonly bytes: Buffer;
}

function refusalOf({ clock }: PerformerDeps, request: Prepared, { response, bytes }: Answered): SplashdownError {
  const { status } = response;
  const headers = Object.fromEntries(response.headers);
  const retryAtMs = computeRetryAtMs({ headers, body: "", nowMs: clock.nowMs() });
  const meaning = readStatusMeaning(status, { isTimed: response.headers.has("retry-after") });
  const excerpt = cutText(showUtf8(bytes));
  return new SplashdownError(
    meaning === "limit" ? "HTTP_RATE_LIMITED" : "STEP_FAILED",
    `${request.method} ${placeOf(request.address)} was answered with ${status}`,
    {
      details: {
        status,
        body: excerpt,
        retryable: meaning !== "final",
        ...(retryAtMs === undefined ? {} : { retry_at_ms: Math.ceil(retryAtMs) }),
      },
    },
  );
}

function noAnswer(request: Prepared, why: string): SplashdownError {
  return new SplashdownError("STEP_FAILED", `${request.method} ${placeOf(request.address)} got no answer: ${why}`);
}

/** Nobody was there to take the request. Source: libuv, uv_err_name; undici. */
const NEVER_LEFT: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** False where it is known that no byte of the request went out. */
function hasLeft(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const reasons = cause instanceof AggregateError ? (cause.errors as readonly unknown[]) : [cause];
  return !reasons.every((one) => one instanceof Error && "code" in one && NEVER_LEFT.has(one.code));
}

/** Fetch says "fetch failed"; the reason is underneath. */
function describeCause(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.message !== "" ? cause.message : messageOf(error);
}
