import { describe, expect, it } from "vitest";
import { ERROR_TABLE, EXIT_STATUS, type ErrorCode } from "../../../src/base/error-table.js";
import {
  assert,
  errnoOf,
  errorCodeOf,
  isErrorCode,
  messageOf,
  SplashdownError,
  unreachable,
} from "../../../src/base/errors.js";
import { codeOf } from "../../support/error-code.js";
import { createPlatformError } from "../../support/platform-error.js";

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

describe("the error table", () => {
  it.each(CODES)("%s has a meaning, a hint and an exit status", (code) => {
    const { meaning, hint, exitStatus, retryable } = ERROR_TABLE[code];
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect(meaning).toMatch(/^[a-z].*[^.]$/);
    expect(hint).toMatch(/\S.*[^.]$/);
    expect(Object.values<number>(EXIT_STATUS)).toContain(exitStatus);
    expect(exitStatus).not.toBe(0);
    expect(typeof retryable).toBe("boolean");
  });

  it("marks what may go well at a later try", () => {
    expect(CODES.filter((code) => ERROR_TABLE[code].retryable)).toEqual(
      expect.arrayContaining(["STORE_FULL", "STORE_BUSY", "STEP_TIMEOUT", "MODEL_RATE_LIMITED", "CANCELLED"]),
    );
    expect(ERROR_TABLE.KEY_WRONG.retryable).toBe(false);
    expect(ERROR_TABLE.VALUE_TOO_LARGE.retryable).toBe(false);
  });

  it("keeps the exit statuses that people rely on", () => {
    expect(EXIT_STATUS).toMatchObject({
      done: 0,
      usage: 2,
      partial: 3,
      failed: 4,
      owned: 11,
      key: 12,
      damaged: 13,
      exhausted: 14,
      tampered: 15,
      personNeeded: 20,
      limit: 21,
      unknown: 22,
      pausedUntil: 75,
      interrupted: 130,
    });
    expect([
      ERROR_TABLE.OWNER_ALIVE.exitStatus,
      ERROR_TABLE.KEY_WRONG.exitStatus,
      ERROR_TABLE.CHECKPOINT_TAMPERED.exitStatus,
    ]).toEqual([11, 12, 15]);
  });
});

describe("SplashdownError", () => {
  it("B1: looks up retryable, hint and exit status, and keeps the cause", () => {
    const cause = new Error("EIO");
    const error = new SplashdownError("STORE_FULL", "no room", { details: { task: "report" }, cause });
    expect(error).toMatchObject({
      name: "SplashdownError",
      code: "STORE_FULL",
      message: "no room",
      retryable: true,
      exitStatus: 4,
      cause,
    });
    expect(error.hint).toBe("free some space, then: splashdown resume report");
  });

  it("fills a hint from the details; what is not known stands there as a word to replace", () => {
    expect(new SplashdownError("STEP_UNKNOWN", "it may have acted").hint).toBe("splashdown show TASK");
    expect(new SplashdownError("STEP_UNKNOWN", "it may have acted", { details: { task: null } }).hint).toBe(
      "splashdown show TASK",
    );
    expect(new SplashdownError("STEP_UNKNOWN", "it may have acted", { details: { task: 7 } }).hint).toBe(
      "splashdown show 7",
    );
  });

  it("is JSON of code, message, hint, retryable and details", () => {
    const error = new SplashdownError("KEY_WRONG", "not this key", { details: { task: "t" } });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: "KEY_WRONG",
      message: "not this key",
      hint: "splashdown keys show t",
      retryable: false,
      details: { task: "t" },
    });
    expect("cause" in error).toBe(false);
  });

  it("B2: is known by its code, also after it crossed a border", () => {
    const crossed: unknown = JSON.parse(JSON.stringify(new SplashdownError("OWNER_SUPERSEDED", "claimed")));
    expect(errorCodeOf(crossed)).toBe("OWNER_SUPERSEDED");
    expect(isErrorCode(crossed, "STORE_FULL", "OWNER_SUPERSEDED")).toBe(true);
    expect(isErrorCode(crossed, "STORE_FULL")).toBe(false);
  });

  it.each([
    [new Error("x")],
    [{ code: "ENOENT" }],
    [{ code: 7 }],
    [{ code: "toString" }],
    ["STORE_FULL"],
    [null],
    [undefined],
  ])("B2: gives no code for %j", (value) => {
    expect(errorCodeOf(value)).toBeUndefined();
  });

  it("[reliability 4 kin] names by number what Node has no name for, as a call that waits and one that does not say it", () => {
    const names = ["EDQUOT", "ESTALE", "EUCLEAN", "ENOLCK", "EBADMSG"];
    for (const sync of [false, true])
      expect(names.map((name) => errnoOf(createPlatformError(name, "/p", sync)))).toEqual(names);
    const named = ["ENOSPC", "EIO", "EACCES"];
    expect(named.map((name) => errnoOf(createPlatformError(name)))).toEqual(named);
  });

  it("[reliability 4 kin] calls a number that nobody knows by the number, and a missing one by what stands there", () => {
    expect(errnoOf({ code: "Unknown system error -4711", errno: -4711 })).toBe("ERRNO4711");
    expect(errnoOf({ code: "Unknown system error -122" })).toBe(errnoOf(createPlatformError("EDQUOT")));
    expect(errnoOf({ code: "UNKNOWN" })).toBe("UNKNOWN");
  });

  it("tells the errno of the platform and the text of anything", () => {
    const missing = Object.assign(new Error("no such file"), { code: "ENOENT" });
    expect([errnoOf(missing), errnoOf({ code: 7 }), errnoOf(null), errnoOf("x")]).toEqual([
      "ENOENT",
      undefined,
      undefined,
      undefined,
    ]);
    expect([messageOf(missing), messageOf("text"), messageOf(undefined)]).toEqual([
      "no such file",
      "text",
      "undefined",
    ]);
    expect(messageOf({ name: "ErrnoError", errno: 54 })).toBe("{ name: 'ErrnoError', errno: 54 }");
    const refused = ["refused at ::1", "refused at 127.0.0.1", "refused at ::1"].map((text) => new Error(text));
    expect(messageOf(new AggregateError(refused))).toBe("refused at ::1; refused at 127.0.0.1");
    expect(messageOf(new AggregateError(refused, "all of them"))).toBe("all of them");
  });

  it("B1: a mistake of ours is INTERNAL", () => {
    expect(codeOf(() => assert(false, "never"))).toBe("INTERNAL");
    expect(codeOf(() => assert(1, "fine"))).toBe("none");
    expect(() => unreachable({ kind: "new" } as never)).toThrow('unreachable value {"kind":"new"}');
    expect(codeOf(() => unreachable("x" as never))).toBe("INTERNAL");
  });
});
