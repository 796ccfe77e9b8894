/**
 * The one fetch of steps and model providers: what a request carries stays with the origin it was addressed to.
 *
 * A redirect within the origin (scheme, host and port) is followed as far as method and body stay what they were. Another
 * origin gets nothing, no header, key or body; and a request with a body that would arrive as a GET is none that was
 * carried out. Where to write the new address instead is said. MCP servers over http are reached under the same rule by
 * their SDK.
 */
import { SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Those that keep method and body. */
const KEEPING: ReadonlySet<number> = new Set([307, 308]);
const READING: ReadonlySet<string> = new Set(["GET", "HEAD"]);

export interface Fetched {
  readonly response: Response;
  /** Why a redirect was not followed; the response is then the redirect itself. */
  readonly refusal?: SplashdownError;
}

/** Errors: those of fetch; a redirect that is not followed is a value. */
export async function fetchFollowing(address: string | URL, init: RequestInit): Promise<Fetched> {
  let url = new URL(address);
  for (let count = 0; ; count += 1) {
    const response = await fetch(url, { ...init, redirect: "manual" });
    const target = targetOf(response, url);
    if (target === undefined) return { response };
    const why = reasonAgainst({ from: url, target, status: response.status, method: methodOf(init), count });
    if (why !== undefined) return { response, refusal: refuse({ url, target, init, why }) };
    await response.body?.cancel();
    url = target;
  }
}

/**
 * The same as a `fetch` for packages that take one.
 *
 * Errors: HTTP_REDIRECT_REFUSED besides those of fetch; MODEL_FAILED in the body of an answer that is not UTF-8, which the
 * packages would read with characters replaced.
 */
export const ownOriginFetch: typeof fetch = async (input, init) => {
  const isRequest = input instanceof Request;
  const address = isRequest ? input.url : input;
  const { response, refusal } = await fetchFollowing(address, isRequest ? await initOf(input, init) : (init ?? {}));
  if (refusal === undefined) return response.ok ? requireUtf8(response) : response;
  await response.body?.cancel();
  throw refusal;
};

function requireUtf8(response: Response): Response {
  const { status, statusText, headers, body } = response;
  if (body === null) return response;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (chunk?: Uint8Array): void => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new SplashdownError("MODEL_FAILED", "the answer of the model's server is not UTF-8 text", {
        details: { called: true, retryable: true },
      });
    }
  };
  const judge = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => (decode(chunk), controller.enqueue(chunk)),
    flush: () => decode(),
  });
  const kept = new Headers(headers);
  for (const name of ["content-length", "content-encoding"]) kept.delete(name);
  return new Response(body.pipeThrough(judge), { status, statusText, headers: kept });
}

/** A body is kept whole, as it may have to be sent again. */
async function initOf(request: Request, init: RequestInit | undefined): Promise<RequestInit> {
  const { method, headers, signal } = request;
  const body = request.body === null ? {} : { body: await request.clone().arrayBuffer() };
  return { method, headers, signal, ...body, ...init };
}

function methodOf({ method }: RequestInit): string {
  return (method ?? "GET").toUpperCase();
}

/** An answer without a place, or with one that is no address, is given as it is. */
function targetOf(response: Response, from: URL): URL | undefined {
  const location = response.headers.get("location");
  if (!REDIRECTS.has(response.status) || location === null || !URL.canParse(location, from.href)) return undefined;
  return new URL(location, from);
}

interface Step {
  readonly from: URL;
  readonly target: URL;
  readonly status: number;
  readonly method: string;
  readonly count: number;
}

function reasonAgainst({ from, target, status, method, count }: Step): string | undefined {
  if (target.origin !== from.origin) return "another origin, which is sent nothing";
  if (!KEEPING.has(status) && !READING.has(method))
    return `which asks for a GET instead: the ${method} is not done there`;
  return count < LIMITS.httpRedirectsMax ? undefined : `the ${count + 1}th redirect in a row`;
}

interface Refused {
  readonly url: URL;
  readonly target: URL;
  readonly init: RequestInit;
  readonly why: string;
}

function refuse({ url, target, init, why }: Refused): SplashdownError {
  const place = placeOf(target);
  const text = `${methodOf(init)} ${placeOf(url)} was redirected to ${place}, ${why}`;
  return new SplashdownError("HTTP_REDIRECT_REFUSED", text, { details: { to: place, called: true, retryable: false } });
}

/** An address without what may be secret: user, query and fragment. */
export function placeOf(address: string | URL): string {
  const { origin, protocol, pathname } = new URL(address);
  return `${origin === "null" ? protocol : origin}${pathname}`;
}
