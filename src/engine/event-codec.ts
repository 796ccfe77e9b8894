/** Events as JSON text with a schema number and a clear family name. */
import { SplashdownError } from "../base/errors.js";
import type { EngineEvent } from "./events.js";

export interface EncodedEvent {
  /** The family, told in the clear. Source: STORAGE section 1.4. */
  readonly kind: string;
  readonly json: string;
}

/** The event as text. Shape: `json` is one object with `schema`, `type`, `at_ms` and the event's own fields. */
export function encodeEvent(event: EngineEvent): EncodedEvent {
  return { kind: "note", json: JSON.stringify(event) };
}

/** The reverse. Errors: FORMAT_VERSION for a newer schema; JOURNAL_CORRUPT for anything that is not a known event of that family. */
export function decodeEvent(_kind: string, _json: string): EngineEvent {
  throw new SplashdownError("JOURNAL_CORRUPT", "not built yet");
}
