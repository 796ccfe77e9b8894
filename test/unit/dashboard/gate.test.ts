/** Who may call the dashboard: the refusal table, over every call there is. */
import { describe, expect, it } from "vitest";
import { judgeRequest, type GateSettings, type RequestHead } from "../../../src/dashboard/gate.js";
import { ROUTES } from "../../../src/dashboard/routes.js";

const SETTINGS: GateSettings = {
  hosts: new Set(["127.0.0.1:4870", "localhost:4870", "[::1]:4870", "tasks.example.org"]),
  token: "t".repeat(32),
  readOnly: false,
};
const OWN = { host: "127.0.0.1:4870", authorization: `Bearer ${SETTINGS.token}`, "content-type": "application/json" };
const statusOf = (head: Partial<RequestHead>, settings: Partial<GateSettings> = {}): number =>
  judgeRequest({ method: "GET", path: "/", headers: OWN, ...head }, { ...SETTINGS, ...settings })?.status ?? 200;

const CALLS = ROUTES.map(({ method, pattern }) => ({ method, path: pattern.replaceAll(/:\w+/g, "x") }));

describe.each([{ method: "GET", path: "/api/stream" }, ...CALLS])("$method $path", (call) => {
  it("is served to the page of this dashboard, under each of its names", () => {
    for (const host of SETTINGS.hosts) expect(statusOf({ ...call, headers: { ...OWN, host } })).toBe(200);
    const headers = { ...OWN, origin: "http://localhost:4870", "sec-fetch-site": "same-origin" };
    expect(statusOf({ ...call, headers })).toBe(200);
  });

  it.each([
    ["another host name", { ...OWN, host: "evil.test" }, 421],
    ["another port", { ...OWN, host: "127.0.0.1:4871" }, 421],
    ["no host", { ...OWN, host: undefined }, 421],
    ["two hosts", { ...OWN, host: ["127.0.0.1:4870", "evil.test"] }, 421],
    ["another origin", { ...OWN, origin: "http://evil.test" }, 403],
    ["another port's origin", { ...OWN, origin: "http://127.0.0.1:4871" }, 403],
    ["the origin of a file", { ...OWN, origin: "null" }, 403],
    ["another site", { ...OWN, "sec-fetch-site": "cross-site" }, 403],
    ["a site beside it", { ...OWN, "sec-fetch-site": "same-site" }, 403],
    ["no token", { ...OWN, authorization: undefined }, 401],
    ["the token of another start", { ...OWN, authorization: `Bearer ${"u".repeat(32)}` }, 401],
    ["a part of the token", { ...OWN, authorization: `Bearer ${"t".repeat(31)}` }, 401],
    ["the token as a cookie", { ...OWN, authorization: undefined, cookie: `token=${SETTINGS.token}` }, 401],
  ])("is refused with %s", (_what, headers, status) => {
    expect(statusOf({ ...call, headers })).toBe(status);
  });
});

describe.each(CALLS.filter(({ method }) => method === "POST"))("what acts: $path", (call) => {
  it("is taken as JSON alone, and not at all with --read-only", () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", undefined])
      expect(statusOf({ ...call, headers: { ...OWN, "content-type": type } })).toBe(415);
    expect(statusOf({ ...call, headers: { ...OWN, "content-type": "application/json; charset=utf-8" } })).toBe(200);
    expect(statusOf(call, { readOnly: true })).toBe(404);
  });
});

describe("the page", () => {
  it("needs no token, since it holds nothing, and is refused to other names all the same", () => {
    expect(statusOf({ headers: { host: OWN.host } })).toBe(200);
    expect(statusOf({ headers: { host: "evil.test" } })).toBe(421);
    expect(statusOf({ method: "POST", headers: { host: OWN.host } })).toBe(405);
  });

  it("is served behind a proxy under the name that was allowed, with its https origin", () => {
    const headers = { ...OWN, host: "tasks.example.org", origin: "https://tasks.example.org" };
    expect(statusOf({ path: "/api/tasks", headers })).toBe(200);
  });

  it.each(["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])("takes no %s of the API", (method) => {
    expect(statusOf({ method, path: "/api/tasks/t/answer" })).toBe(405);
  });
});
