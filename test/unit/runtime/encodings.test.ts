/** Bytes in encodings of their own, and values that only YAML has: read as what they are, or refused. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readInputsFile } from "../../../src/cli/command/inputs-file.js";
import { openSplashdownInMemory } from "../../support/library-place.js";
import { openRawServer } from "../../support/raw-server.js";

/** What a step sees of the body of an answer with this type. */
async function fetchBody(type: string, body: Uint8Array): Promise<{ body?: unknown; reason: string }> {
  const server = await openRawServer((socket) => {
    socket.write(`HTTP/1.1 200 X\r\nconnection: close\r\ncontent-type: ${type}\r\n\r\n`);
    socket.end(body);
  });
  onTestFinished(() => server.close());
  const splashdown = await openSplashdownInMemory();
  let seen: unknown;
  const take = ({ input }: { readonly input: { readonly v: unknown } }) => void (seen = input.v);
  const steps = [
    { name: "h", url: server.url, effects: "none" as const },
    { name: "see", depends_on: ["h"], input: { v: "{{ h.output.body }}" }, effects: "none" as const, function: take },
  ];
  const view = await splashdown.run({ workflow: { workflow: { name: "encodings" }, steps } });
  return { body: seen, reason: view.reason };
}

describe("an answer over http", () => {
  it.each<[string, string, Buffer, string]>([
    ["[public M]", "text/plain; charset=iso-8859-1", Buffer.from("caf\xe9", "latin1"), "café"],
    ["[public M kin]", 'text/plain; charset="utf-16le"', Buffer.from("café", "utf16le"), "café"],
    ["[public M kin]", "text/plain; charset=Shift_JIS", Buffer.from([0x93, 0xfa, 0x96, 0x7b]), "日本"],
    ["[public M kin]", "text/plain; charset=windows-1252", Buffer.from([0x80, 0x31]), "€1"],
    ["without one", "text/plain", Buffer.from("café"), "café"],
  ])("%s is read in the encoding that it names: %s", async (_tag, type, bytes, text) => {
    expect((await fetchBody(type, bytes)).body).toBe(text);
  });

  it("[public M kin] is JSON in the encoding that it names, and without a byte order mark", async () => {
    const named = await fetchBody("application/json; charset=iso-8859-1", Buffer.from('{"a": "\xe9"}', "latin1"));
    expect(named.body).toEqual({ a: "é" });
    const marked = await fetchBody("application/json", Buffer.from('\uFEFF{"id": 7}'));
    expect(marked.body).toEqual({ id: 7 });
  });

  it.each(["image/png", "text/plain; charset=utf-8", "text/plain; charset=no-such-one"])(
    "[public M kin] keeps its bytes where it is no text: %s",
    async (type) => {
      const bytes = Buffer.from([0x89, 0x50, 0xff, 0x00]);
      expect((await fetchBody(type, bytes)).body).toEqual(new Uint8Array(bytes));
    },
  );

  it("[public M kin] is refused where JSON is no text", async () => {
    const { reason } = await fetchBody("application/json", Buffer.from('{"a": "\xe9"}', "latin1"));
    expect(reason).toContain("the answer is not UTF-8 text: byte 0xe9 at offset 7 [STEP_OUTPUT_INVALID]");
  });
});

describe("inputs in YAML", () => {
  function read(text: string): Promise<unknown> {
    const folder = mkdtempSync(join(tmpdir(), "splashdown-yaml-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "in.yaml");
    writeFileSync(file, text);
    chmodSync(file, 0o600);
    return readInputsFile(file, { input: undefined });
  }

  it.each<[string, unknown]>([
    ["2026-06-07", "2026-06-07"],
    ["2026-06-07T10:00:00Z", "2026-06-07T10:00:00Z"],
    ["yes", "yes"],
    ["12:30:45", "12:30:45"],
    ["1_000", "1_000"],
    ["0x10", 16],
    ["0o17", 15],
    [".5", 0.5],
    ["+1", 1],
    ["-0", -0],
    ["-0.0", -0],
    ["1e3", 1000],
    ["~", null],
    ["", null],
    ["{a: [1, {b: 2}]}", { a: [1, { b: 2 }] }],
  ])("v: %s is what YAML 1.2 says", async (text, value) => {
    expect(await read(`v: ${text}\n`)).toEqual({ v: value });
  });

  it.each<[string, string]>([
    ["9007199254740993", "$.v: the whole number 9007199254740993 cannot be held exactly"],
    ["0xFFFFFFFFFFFFFFFF", "$.v: the whole number 18446744073709551615 cannot be held exactly"],
    ["[1, 1234567890123456789.5]", "$.v[1]: the number 1234567890123456789.5 cannot be held exactly"],
    [".inf", "$.v: .inf is not a number that JSON has"],
    ["-.INF", "$.v: -.INF is not a number that JSON has"],
    [".nan", "$.v: .nan is not a number that JSON has"],
    ["1e999", "$.v: the number 1e999 is too large to be held"],
    ["02134", '$.v: 02134 has a leading zero; write 2134, or "02134" for the text'],
    ['"\\ud800"', "$.v: a text has half of a character"],
    ["{? [a] : 1}", "a key must be a text"],
    ["!!binary aGVsbG8=", "cannot be read"],
    ["1\nv: 2", "Map keys must be unique"],
  ])("v: %s is refused by its place", async (text, words) => {
    await expect(read(`v: ${text}\n`)).rejects.toThrow(words);
  });
});
