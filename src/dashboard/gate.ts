/**
 * Who may call the dashboard's server: judged from a request's line and headers alone, before a body is read.
 *
 * D1: the Host header must be one of ours: a page of another name that resolves to this machine is refused whatever it asks.
 * D2: an Origin that is sent must be ours, and Sec-Fetch-Site must not tell of another site.
 * D3: every call of the API brings the token in a header, which no other site can set; there is no cookie.
 * D4: what acts is JSON, so that no form of another page can send it; with `readOnly` nothing that acts exists.
 */
import { timingSafeEqual } from "node:crypto";
import { sha256 } from "../base/digest.js";
import type { ErrorCode } from "../base/error-table.js";

export interface GateSettings {
  /** `host:port` as browsers send them. */
  readonly hosts: ReadonlySet<string>;
  readonly token: string;
  readonly readOnly: boolean;
}

export interface RequestHead {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** `undefined`: the request may be served. */
export function judgeRequest(head: RequestHead, settings: GateSettings): Refusal | undefined {
  return judgeSite(head, settings) ?? (head.path.startsWith("/api/") ? judgeCall(head, settings) : judgePage(head));
}

/** D1, D2. */
function judgeSite({ headers }: RequestHead, { hosts }: GateSettings): Refusal | undefined {
  const host = textOf(headers["host"]);
  if (host === undefined || !hosts.has(host.toLowerCase()))
    return refuse(421, "the dashboard is not served under this host name");
  const origin = textOf(headers["origin"]);
  if (origin !== undefined && !isOwnOrigin(origin, hosts))
    return refuse(403, "another site may not call the dashboard");
  const site = textOf(headers["sec-fetch-site"]);
  if (site !== undefined && site !== "same-origin" && site !== "none")
    return refuse(403, "another site may not call the dashboard");
  return undefined;
}

/** Behind a proxy that speaks TLS a browser tells an https origin. */
function isOwnOrigin(origin: string, hosts: ReadonlySet<string>): boolean {
  const found = /^https?:\/\/(.+)$/.exec(origin)?.[1];
  return found !== undefined && hosts.has(found.toLowerCase());
}

/** D3, D4. */
function judgeCall({ method, headers }: RequestHead, { token, readOnly }: GateSettings): Refusal | undefined {
  if (!isSame(textOf(headers["authorization"]), `Bearer ${token}`))
    return refuse(401, "the token is missing or not of this start of the dashboard");
  if (SAFE_METHODS.has(method)) return undefined;
  if (method !== "POST") return refuse(405, "the dashboard takes GET and POST");
  if (readOnly) return refuse(404, "the dashboard was started with --read-only: nothing can be changed");
  const type = textOf(headers["content-type"])?.split(";")[0]?.trim().toLowerCase();
  return type === "application/json" ? undefined : refuse(415, "the body must be application/json");
}

function judgePage({ method }: RequestHead): Refusal | undefined {
  return SAFE_METHODS.has(method) ? undefined : refuse(405, "pages take GET");
}

/** In a time that tells nothing of where they differ. */
function isSame(given: string | undefined, wanted: string): boolean {
  return given !== undefined && timingSafeEqual(sha256(Buffer.from(given)), sha256(Buffer.from(wanted)));
}

/** A header that is sent twice is none of a browser's. */
function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : value === undefined ? undefined : "";
}

function refuse(status: number, message: string): Refusal {
  return { status, code: "DASHBOARD_REFUSED", message };
}
