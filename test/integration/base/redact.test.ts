import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { createRedactor, type Redactor } from "../../../src/base/redact.js";
import { computeSecretForms } from "../../../src/base/secret-forms.js";
import { isSecretName } from "../../../src/base/secret-shapes.js";
import { PLANTED, repeat } from "../../support/planted-secrets.js";
import { processorMsOf } from "../../support/real-clock.js";

const digest = (secret: Uint8Array): Uint8Array => createHmac("sha256", "key of the task").update(secret).digest();
const markOf = (secret: string, kind: string): string =>
  `[redacted:${kind}:${Buffer.from(digest(Buffer.from(secret)))
    .toString("hex")
    .slice(0, 8)}]`;

function createWith(...values: readonly string[]): Redactor {
  const redactor = createRedactor(digest);
  for (const value of values) redactor.register(value, "env");
  return redactor;
}

describe("redactor of texts", () => {
  it.each(PLANTED)("takes out a secret of the shape %s", (kind, secret) => {
    const redactor = createRedactor(digest);
    expect(redactor.redactText(secret)).toBe(markOf(secret, kind));
    expect(redactor.redactText(`see ${secret}\nand "${secret}".`)).toBe(
      `see ${markOf(secret, kind)}\nand "${markOf(secret, kind)}".`,
    );
  });

  it("takes out a private key whose end was cut off", () => {
    const text = createRedactor(digest).redactText(
      ["-----BEGIN", " EC PRIVATE KEY-----\n", repeat("Ab1", 50)].join(""),
    );
    expect(text).toMatch(/^\[redacted:pem:[0-9a-f]{8}\]$/);
  });

  it.each([
    ["Authorization: Bearer abc.def-123", "Authorization: Bearer ", "abc.def-123", "", "authorization"],
    [
      "curl -H 'authorization: Basic dXNlcjpwYXNz' x",
      "curl -H 'authorization: Basic ",
      "dXNlcjpwYXNz",
      "' x",
      "authorization",
    ],
    ["postgres://ada:hunter22@db:5432/x", "postgres://ada:", "hunter22", "@db:5432/x", "url"],
    ["GET /a?token=zyxw9876&b=1", "GET /a?token=", "zyxw9876", "&b=1", "field"],
    ["export DB_PASSWORD=hunter22", "export DB_PASSWORD=", "hunter22", "", "field"],
    [`{"api_key": "q1w2e3", "n": 1}`, `{"api_key": "`, "q1w2e3", `", "n": 1}`, "field"],
    [
      String.raw`"{\"client_secret\":\"q1w2e3\"}"`,
      String.raw`"{\"client_secret\":\"`,
      "q1w2e3",
      String.raw`\"}"`,
      "field",
    ],
  ])("takes only the secret out of %s", (text, before, secret, after, kind) => {
    expect(createRedactor(digest).redactText(text)).toBe(`${before}${markOf(secret, kind)}${after}`);
  });

  it.each([
    "the token was refreshed and the password policy is fine",
    "const token = getToken(); // token: string",
    "tokens_used=1234567 page_token: next",
    "https://example.com/a/b:c@d",
    "sk-short and task-based-things-in-a-longer-text, ghp_short, AKIAshort",
    "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
    "password=${DB_PASSWORD}",
    "a sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  ])("leaves ordinary text alone: %s", (text) => {
    expect(createRedactor(digest).redactText(text)).toBe(text);
  });

  it("takes out registered values in every encoding", () => {
    const secret = 'p"ä s/s+wörd?~';
    const redactor = createWith(secret);
    const bytes = Buffer.from(secret);
    const encodings = [
      secret,
      JSON.stringify(secret).slice(1, -1),
      JSON.stringify(JSON.stringify(secret)).slice(3, -3),
      encodeURIComponent(secret),
      new URLSearchParams({ a: secret }).toString().slice(2),
      bytes.toString("base64"),
      bytes.toString("base64url"),
    ];
    for (const encoded of encodings) {
      expect(redactor.redactText(`x ${encoded} y`)).toBe(`x ${markOf(secret, "env")} y`);
    }
  });

  it("finds a registered value inside a longer base64 text, at any offset", () => {
    const secret = "hunter2-hunter2";
    const redactor = createWith(secret);
    for (const before of ["", "u", "us", "user:"]) {
      const text = Buffer.from(`${before}${secret}:tail`).toString("base64");
      const clean = redactor.redactText(text);
      expect(clean).toContain("[redacted:env:");
      const rest = clean.replaceAll(/\[redacted:[^\]]*\]/g, "");
      expect(rest.length).toBeLessThanOrEqual(text.length - 18);
    }
  });

  it("gives equal secrets equal marks and different ones different marks, whatever form they have", () => {
    const redactor = createWith("first-secret", "second-secret");
    const [one, two] = redactor.redactText("first-secret second-secret").split(" ");
    expect(one).toBe(redactor.redactText(Buffer.from("first-secret").toString("base64")));
    expect(one).not.toBe(two);
  });

  it("takes the longer of two registered values first", () => {
    const redactor = createWith("secret", "secret-and-more");
    expect(redactor.redactText("secret-and-more secret")).toBe(
      `${markOf("secret-and-more", "env")} ${markOf("secret", "env")}`,
    );
  });

  it("refuses to register a value that ordinary text may hold", () => {
    const redactor = createRedactor(digest);
    expect(redactor.register("abc", "env")).toBe(false);
    expect(redactor.register("abcdef", "env")).toBe(true);
    expect(redactor.register("abcdef", "env")).toBe(true);
    expect(redactor.redactText("abc abcdef")).toBe(`abc ${markOf("abcdef", "env")}`);
  });

  it("B5: redacts no mark again, even when a registered value is a word of it", () => {
    const redactor = createWith("redacted", "first-secret");
    const clean = redactor.redactText("first-secret");
    expect(clean).toBe(markOf("first-secret", "env"));
    expect(redactor.redactText(clean)).toBe(clean);
    for (const [, secret] of PLANTED) {
      const text = `token=${secret} https://u:${secret}@h Authorization: Bearer ${secret}`;
      const once = redactor.redactText(text);
      expect(redactor.redactText(once)).toBe(once);
    }
  });

  it("keeps kinds to small letters", () => {
    const redactor = createRedactor(digest);
    redactor.register("some-secret", "OPENAI API Key!");
    expect(redactor.redactText("some-secret")).toBe(markOf("some-secret", "openai-api-key-"));
  });

  it("copes with lone surrogates", () => {
    expect(createWith("abc\ud800def").redactText("x abc\ud800def")).toContain("[redacted:env:");
  });

  it("lets no registered value through, whatever stands around it", () => {
    const secrets = fc.stringMatching(/^[A-Z0-9/+ "]{8,30}$/);
    fc.assert(
      fc.property(secrets, fc.string(), fc.string(), (secret, before, after) => {
        const redactor = createWith(secret);
        for (const form of computeSecretForms(secret)) {
          const clean = redactor.redactText(before + form + after);
          expect(clean).not.toContain(form);
          expect(clean).toContain("[redacted:");
        }
      }),
    );
  });
});

describe("redactor of JSON", () => {
  it("takes out fields by name, at any depth, and keeps structure", () => {
    const clean = createRedactor(digest).redactJson({
      user: { name: "ada", password: "hunter2", "X-Api-Key": "k" },
      env: { OPENAI_API_KEY: "abc", GITHUB_TOKEN: "def", PATH: "/bin" },
      headers: [{ Authorization: "Bearer x" }],
      tokens: ["not", "by", "name"],
      token: ["one", 1234567, 12, true, null, { password: "" }],
      secret: { value: "kept, for its name tells nothing", password: null },
      tokens_used: 12,
    });
    expect(clean).toEqual({
      user: { name: "ada", password: markOf("hunter2", "field"), "X-Api-Key": markOf("k", "field") },
      env: { OPENAI_API_KEY: markOf("abc", "field"), GITHUB_TOKEN: markOf("def", "field"), PATH: "/bin" },
      headers: [{ Authorization: markOf("Bearer x", "field") }],
      tokens: ["not", "by", "name"],
      token: [markOf("one", "field"), markOf("1234567", "field"), 12, true, null, { password: "" }],
      secret: { value: "kept, for its name tells nothing", password: null },
      tokens_used: 12,
    });
  });

  it("takes registered values out of texts and of keys", () => {
    const clean = createWith("first-secret").redactJson({ a: ["x first-secret"], "key first-secret": 1 });
    const mark = markOf("first-secret", "env");
    expect(clean).toEqual({ a: [`x ${mark}`], [`key ${mark}`]: 1 });
  });

  it("B4: changes no input and gives the same reference back where nothing is secret", () => {
    const clean = Object.freeze({ a: Object.freeze([1, "two", null]), b: Object.freeze({}) });
    const dirty = Object.freeze({ keep: clean, list: Object.freeze(["ok", "first-secret"]), password: "x" });
    const redactor = createWith("first-secret");
    expect(redactor.redactJson(clean)).toBe(clean);
    const result = redactor.redactJson(dirty) as { keep: unknown; list: unknown };
    expect(result.keep).toBe(clean);
    expect(dirty.list).toEqual(["ok", "first-secret"]);
    expect(result).toEqual({
      keep: clean,
      list: ["ok", markOf("first-secret", "env")],
      password: markOf("x", "field"),
    });
    for (const value of [null, true, 5, "plain"] as const) expect(redactor.redactJson(value)).toBe(value);
  });

  it("B5: is done after one pass", () => {
    const redactor = createWith("first-secret");
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = redactor.redactJson({ value: value as JsonValue, password: "first-secret", n: "first-secret" });
        expect(redactor.redactJson(once)).toBe(once);
      }),
    );
  });

  it("keeps the key __proto__ an ordinary key", () => {
    const value = JSON.parse('{"__proto__":{"password":"hunter2"}}') as JsonValue;
    const clean = createRedactor(digest).redactJson(value);
    expect(Object.keys(clean as object)).toEqual(["__proto__"]);
    expect(JSON.stringify(clean)).toBe(`{"__proto__":{"password":"${markOf("hunter2", "field")}"}}`);
  });
});

describe("isSecretName", () => {
  it.each([
    "password",
    "apiKey",
    "API-KEY",
    "x_api_key",
    "db_password",
    "awsSecretAccessKey",
    "NPM_TOKEN",
    "Set-Cookie",
  ])("takes %s for a secret", (name) => expect(isSecretName(name)).toBe(true));
  it.each([
    "tokens",
    "tokens_used",
    "page_token",
    "max_tokens",
    "password_policy",
    "secretary",
    "key",
    "author",
    "id",
    "x".repeat(65),
  ])("takes %s for an ordinary field", (name) => expect(isSecretName(name)).toBe(false));
});

describe("computeSecretForms", () => {
  it("begins with the value and repeats none", () => {
    const forms = computeSecretForms("plain-value");
    expect(forms[0]).toBe("plain-value");
    expect(new Set(forms).size).toBe(forms.length);
  });
});

describe("long texts made to hold the redaction up", () => {
  it.each([
    ["[security H6] of the first parts of tokens", "eyJ-"],
    ["[security H6 kin] of first and second parts of tokens", `eyJ${"a".repeat(9)}.eyJ-`],
    ["[security H6 kin] of beginnings of keys", "-----BEGIN A PRIVATE KEY-----"],
    ["[security H6 kin] of addresses without an end", "a://b:"],
    ["[security H6 kin] of fields without a value", 'token="'],
    ["[security H6 kin] of names and colons", '\\"password\\" : '],
    ["[security H6 kin] of headers", "authorization: bearer "],
  ])("%s are read in time that grows with the text alone", async (_title, part) => {
    const redactor = createRedactor(digest);
    const textOf = (chars: number) => part.repeat(Math.ceil(chars / part.length));
    const oneMs = await processorMsOf(() => void redactor.redactText(textOf(1_000_000)));
    const fourMs = await processorMsOf(() => void redactor.redactText(textOf(4_000_000)));
    expect(fourMs).toBeLessThan(Math.max(oneMs * 12, 5_000));
  });

  it("takes a token out behind other characters of its own alphabet, and leaves those", () => {
    const token = `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(20)}`;
    const redactor = createRedactor(digest);
    expect(redactor.redactText(`x-${token} y`)).toMatch(/^x-\[redacted:jwt:[0-9a-f]{8}\] y$/);
    expect(redactor.redactText(`eyJ-${token} y`)).not.toContain("bbbb");
    expect(redactor.redactText(`(${token})`)).toMatch(/^\(\[redacted:jwt:[0-9a-f]{8}\]\)$/);
  });
});

describe("encodings that programs put a secret through", () => {
  const value = 'it\'s/a+secret: \u00fc<&>"of some length", longer than fifty-seven bytes';
  const lines = (text: string, width: number, end = "\n"): string =>
    text.match(new RegExp(`.{1,${width}}`, "g"))?.join(end) ?? "";
  const leaks = (text: string): boolean => {
    const clean = createWith(value).redactText(text);
    expect(clean).toContain("[redacted:env:");
    const flat = clean.replace(/[\s\\]/g, "");
    return computeSecretForms(value).some((form) => form.length > 20 && flat.includes(form.replace(/[\s\\]/g, "")));
  };
  const base64 = (before: string): string => Buffer.from(`${before}${value}`).toString("base64");

  it("[security L1] takes out base64 that is broken into lines, wherever the secret begins", () => {
    for (const before of ["", "x", "xy", "user:", "a".repeat(70)]) {
      expect(leaks(`${lines(base64(before), 76)}\n`)).toBe(false);
      expect(leaks(lines(base64(before), 64, "\r\n"))).toBe(false);
    }
  });

  it("[security L1 kin] takes out base64 whose lines are indented, or stand in a JSON text", () => {
    expect(leaks(`data: |\n  ${lines(base64(""), 40, "\n  ")}\n`)).toBe(false);
    expect(leaks(JSON.stringify({ data: lines(base64("u:"), 76) }))).toBe(false);
  });

  it("[security L1 kin] takes out slashes with a backslash before them", () => {
    expect(leaks(JSON.stringify(value).replaceAll("/", "\\/"))).toBe(false);
    expect(leaks(base64("").replaceAll("/", "\\/"))).toBe(false);
  });

  it("[security L1 kin] takes out hexadecimal digits, small, capital, and in lines", () => {
    const hex = Buffer.from(value).toString("hex");
    expect(leaks(hex)).toBe(false);
    expect(leaks(hex.toUpperCase())).toBe(false);
    expect(leaks(lines(hex, 60))).toBe(false);
  });

  it("[security L1 kin] takes out what stands between quotes of a shell, in HTML, and in escaped JSON", () => {
    expect(leaks(`'${value.replaceAll("'", `'\\''`)}'`)).toBe(false);
    expect(
      leaks(value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")),
    ).toBe(false);
    expect(leaks(JSON.stringify(value).replace(/\u00fc/g, "\\u00fc"))).toBe(false);
  });

  it("leaves marks and ordinary lines alone", () => {
    const redactor = createWith("redacted", "password-one");
    const once = redactor.redactText("password-one\nand more\n");
    expect(redactor.redactText(once)).toBe(once);
    expect(redactor.redactText("one\ntwo\nthree\n")).toBe("one\ntwo\nthree\n");
  });
});
