import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { buildPage } from "../../../scripts/parts/page-build.mjs";
import { openFolder } from "../../support/temporary-folder.js";

const SOURCE = join(import.meta.dirname, "../../../web");
const readAll = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("base64")]));

describe("the page of the dashboard", () => {
  it("is built twice with the same bytes, and its list says what they are", async () => {
    const [first, second] = [openFolder(), openFolder()];
    const list = (await buildPage(SOURCE, first)) as {
      path: string;
      bytes: number;
      gzip: number;
      sha256: string;
      type: string;
    }[];
    await buildPage(SOURCE, second);
    expect(readAll(second)).toEqual(readAll(first));
    expect(JSON.parse(readFileSync(join(first, "files.json"), "utf8"))).toEqual(list);
    expect(list.map(({ type }) => type.split(";")[0])).toEqual(["text/html", "text/javascript", "text/css"]);
    for (const { path, bytes, gzip, sha256 } of list) {
      const [content, packed] = [readFileSync(join(first, path)), readFileSync(join(first, `${path}.gz`))];
      expect(gunzipSync(packed).equals(content)).toBe(true);
      expect([bytes, gzip]).toEqual([content.length, packed.length]);
      expect(createHash("sha256").update(content).digest("hex")).toBe(sha256);
    }
  });

  it("loads nothing from elsewhere and writes no markup of its own", async () => {
    const folder = openFolder();
    const list = (await buildPage(SOURCE, folder)) as { path: string }[];
    const [document = "", script = ""] = list.map(({ path }) => readFileSync(join(folder, path), "utf8"));
    expect([...document.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, at = ""]) => at.replace(/-\w{8}/, ""))).toEqual([
      "data:,",
      "/style.css",
      "/page.js",
    ]);
    const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
    const texts = sources.map((name) => readFileSync(join(SOURCE, name), "utf8")).join("\n");
    expect(texts).not.toMatch(/innerHTML|dangerously|insertAdjacentHTML|document\.write|\beval\(/);
    expect(script).not.toMatch(/\beval\(|new Function\(/);
  });

  it("is not built when it is over its budget", async () => {
    await expect(buildPage(SOURCE, openFolder(), { js: 10_000, css: 8000 })).rejects.toThrow(
      /page-\w+\.js has \d+ bytes of gzip; its budget is 10000/,
    );
  });
});
