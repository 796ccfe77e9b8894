/**
 * What went wrong in a call of a model, as one error of ours: what happened, whether it may go well later, and when.
 *
 * The SDK's errors are told by their fields and not by their classes: packages of different versions have classes of
 * their own. A refusal for a limit is MODEL_RATE_LIMITED and no failure; a used-up balance is one that no wait mends.
 */
import { errnoOf, messageOf, SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { cutText } from "../outcome/failure.js";
import { isNotLetIn, readStatusMeaning } from "../outcome/status-table.js";
import { computeRetryAtMs } from "./retry-time.js";

export interface CallPlace {
  readonly provider: string;
  readonly model: string;
  readonly nowMs: number;
  /** The text that had come. */
  readonly partial: string;
}

const TEXT_BYTES_MAX = 1_000;
const BODY_BYTES_MAX = 4_096;
const LIMIT_WORDS = /rate.?limit|overloaded|too many requests|resource.?exhausted/i;
const BALANCE_WORDS =
  /insufficient_quota|billing|credit balance|payment required|insufficient (?:balance|credits|funds)/i;
const UNKNOWN_STATUS = 404;
const REFUSED_PORT = "ECONNREFUSED";

/** Errors: none; the answer is MODEL_FAILED or MODEL_RATE_LIMITED. */
export function describeCallFailure(error: unknown, place: CallPlace): SplashdownError {
  const fields = fieldsOf(error);
  const first = readFirstEvent(fields);
  if (first !== undefined) return describeSaid(first, place);
  if (typeof fields["statusCode"] === "number") return describeAnswer(error, fields, place);
  const inner = isJsonObject(fields["error"]) ? fields["error"] : undefined;
  const isSaid = ["type", "code", "message"].some(
    (name) => typeof fields[name] === "string" || typeof fields[name] === "number",
  );
  const said = inner ?? (isSaid ? fields : undefined);
  if (said !== undefined && !(error instanceof Error)) return describeSaid(said, place);
  const status = readStatus(fields);
  if (status !== undefined) return describeSaid({ code: status, message: messageOf(error) }, place);
  if (typeof error === "string") return describeSaid({ message: error }, place);
  return describeBroken(error, place);
}

/** An error that a stream began with: the SDK makes up a status for it. */
function readFirstEvent({ responseHeaders, responseBody }: JsonObject): JsonObject | undefined {
  const type = lowerCased(responseHeaders)["content-type"] ?? "";
  if (!type.includes("event-stream") || typeof responseBody !== "string") return undefined;
  try {
    const told = JSON.parse(responseBody) as JsonValue;
    if (!isJsonObject(told)) return undefined;
    // One that the SDK cannot read comes within its own complaint.
    const { value } = told;
    return isJsonObject(value) && isJsonObject(value["error"]) ? value["error"] : told;
  } catch {
    return undefined;
  }
}

/** The answer with a status that is no success. */
function describeAnswer(error: unknown, fields: JsonObject, place: CallPlace): SplashdownError {
  const status = fields["statusCode"] as number;
  const headers = lowerCased(fields["responseHeaders"]);
  const body = typeof fields["responseBody"] === "string" ? fields["responseBody"] : "";
  const message = `${nameOf(place)} answered ${status}: ${cutText(messageOf(error), TEXT_BYTES_MAX)}`;
  if (status < 300)
    return fail(place, `${nameOf(place)} gave an answer that cannot be read: ${describeCause(error)}`, {
      called: true,
    });
  const details = { status, ...(body === "" ? {} : { body: cutText(body, BODY_BYTES_MAX) }) };
  if (BALANCE_WORDS.test(body) && status < 500)
    return fail(place, `${message}; see to the balance of the account`, { ...details, retryable: false });
  const retryAtMs = computeRetryAtMs({ headers, body, nowMs: place.nowMs });
  const meaning = readStatusMeaning(status, { isModel: true, isTimed: retryAtMs !== undefined });
  if (meaning === "limit") return limited(place, message, { ...details, ...timeOf(retryAtMs) });
  return fail(place, `${message}${adviseOn(status)}`, {
    ...details,
    retryable: meaning === "passing",
  });
}

function adviseOn(status: number): string {
  if (isNotLetIn(status)) return "; look at its key with: splashdown doctor --models";
  return status === UNKNOWN_STATUS
    ? "; look at the name of the model, and at the address with: splashdown doctor --models"
    : "";
}

/** A failure that was told inside a stream that had begun well. */
function describeSaid(said: JsonObject, place: CallPlace): SplashdownError {
  const { type, code, message } = said;
  const status = readStatus(said);
  const kind = [type, code].filter((word) => typeof word === "string" || typeof word === "number").join(" ");
  const text = cutText(typeof message === "string" ? message : JSON.stringify(said), TEXT_BYTES_MAX);
  const told = `${nameOf(place)} broke off: ${kind === "" ? "" : `${kind}: `}${text}`;
  const retryAtMs = computeRetryAtMs({ headers: {}, body: text, nowMs: place.nowMs });
  if (BALANCE_WORDS.test(`${kind} ${text}`)) return fail(place, told, { retryable: false });
  const facts = status === undefined ? {} : { status };
  const meaning = status === undefined ? undefined : readStatusMeaning(status, { isModel: true, isTimed: true });
  if (meaning === undefined ? LIMIT_WORDS.test(`${kind} ${text}`) : meaning === "limit")
    return limited(place, told, { ...facts, ...timeOf(retryAtMs) });
  return fail(place, told, { ...facts, called: true, ...(meaning === "final" ? { retryable: false } : {}) });
}

/** A status told inside an answer that began with 200, as a number or as a text of digits. */
function readStatus({ code, status, statusCode }: JsonObject): number | undefined {
  const found = [code, status, statusCode].map(Number).find((number) => number >= 400 && number < 600);
  return found;
}

/** No answer, half an answer, or one in no known form. */
function describeBroken(error: unknown, place: CallPlace): SplashdownError {
  const errno = errnoOf(error) ?? errnoOf(error instanceof Error ? error.cause : undefined);
  const why = describeCause(error);
  const advice = errno === undefined ? adviseOnStream(why) : (ADVICE[errno] ?? "");
  return fail(place, `the call of ${nameOf(place)} broke: ${cutText(why, TEXT_BYTES_MAX)}${advice}`, {
    called: errno !== REFUSED_PORT,
    ...(errno === undefined ? {} : { errno }),
  });
}

const ADVICE: Readonly<Record<string, string>> = {
  [REFUSED_PORT]: "; nothing listens there: is it running?",
  ENOTFOUND: "; no host has that name: look at the address with: splashdown doctor --models",
};

/** Something else than a model's service answers, e.g. with a page. */
function adviseOnStream(why: string): string {
  return why.includes("without a finish reason")
    ? "; if it is always so, look at the address with: splashdown doctor --models"
    : "";
}

/** With its cause, where that is not said already. */
function describeCause(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const told = messageOf(error);
  return cause instanceof Error && !told.includes(cause.message) ? `${told}: ${cause.message}` : told;
}

function nameOf({ provider, model }: CallPlace): string {
  return `${provider}/${model}`;
}

function fail(place: CallPlace, message: string, details: JsonObject): SplashdownError {
  return new SplashdownError("MODEL_FAILED", message, { details: { ...factsOf(place), retryable: true, ...details } });
}

function limited(place: CallPlace, message: string, details: JsonObject): SplashdownError {
  return new SplashdownError("MODEL_RATE_LIMITED", message, { details: { ...factsOf(place), ...details } });
}

function factsOf({ provider, model, partial }: CallPlace): JsonObject {
  return { provider, model, ...(partial === "" ? {} : { partial: cutText(partial) }) };
}

function timeOf(retryAtMs: number | undefined): JsonObject {
  return retryAtMs === undefined ? {} : { retry_at_ms: Math.ceil(retryAtMs) };
}

function fieldsOf(error: unknown): JsonObject {
  return typeof error === "object" && error !== null ? (error as JsonObject) : {};
}

function lowerCased(headers: unknown): Record<string, string> {
  const given = isJsonObject(headers) ? Object.entries(headers) : [];
  return Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), typeof value === "string" ? value : ""]));
}
