import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  createTree,
  type Json,
  measureAll,
  outputsOf,
  runRaw,
  runSpecialist,
} from "../../../unit/examples/code-audit/audit-tools.js";

// Put together at run time, so that no scanner takes this file for a leak.
const AWS = ["AKIA", "Z3MPQ7RT5W2XJ6KL"].join("");
const GITHUB = ["ghp", "_", "q9Zr4Tk8Vw2Xy6Lm1Np3Bs5Dd7Ff0Gh8Jk2A"].join("");
const PASSWORD = ["h7Gk2", "!pQz9Lm"].join("");
const JWT = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiI4ODc2NTQzMjEwIn0", "dBjftJeZ4CVPmB92K27uhbUJU1p1r"].join(".");
const PEM = createKey();
const SECRETS = [AWS, GITHUB, PASSWORD, JWT, PEM.split("\n")[1] ?? ""];

function createKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

const TREE = {
  "src/config.js": `const region = "eu";\nconst key = "${AWS}";\nconst t = "${GITHUB}";\n`,
  "deploy/key.pem": PEM,
  ".env": `DB_PASSWORD=${PASSWORD}\nAPI_KEY=changeme\nEMPTY_TOKEN=\n`,
  "test/fixture.js": `const jwt = "${JWT}";\n`,
  "src/plain.js": `const token = "InterpolationInTemplate";\nconst password = process.env.PASSWORD;\nconst apiKey = "\${KEY}";\n// TODO: drop ${GITHUB} soon\n`,
};

describe("secrets", () => {
  it("reports place, kind and fingerprint, and tells likely from doubtful", () => {
    const { output } = runSpecialist("secrets", createTree(TREE));
    const places = (list: { items: { path: string; line: number; kind: string }[] }) =>
      list.items.map(({ path, line, kind }) => `${path}:${line} ${kind}`);
    expect(places(output.likely)).toEqual([
      "deploy/key.pem:1 private key (PEM)",
      "src/config.js:2 AWS access key id",
      "src/config.js:3 GitHub token",
      "src/plain.js:4 GitHub token",
    ]);
    expect(places(output.doubtful)).toEqual([
      ".env:1 assignment of a random-looking value",
      "test/fixture.js:1 JSON Web Token",
    ]);
    expect(output.likely.items[1].fingerprint).toMatch(/^[0-9a-f]{8}$/);
    expect(output.doubtful.items[0].fingerprint).toMatch(/^[0-9a-f]{4}$/);
    expect(output.repeated_values).toEqual([{ fingerprint: output.likely.items[2].fingerprint, places: 2 }]);
  });

  it("lets no value into any output of any tool, nor into the report", () => {
    const folder = createTree({
      ...TREE,
      "package.json": `{"dependencies":{"x":"git+https://u:${GITHUB}@h.example/x.git"}}`,
    });
    const answers = measureAll(folder);
    const outputs = outputsOf(answers);
    const uncertainties = [{ what: "x", kind: "generated", paths: ["src/plain.js", "src/config.js", ".env"] }];
    const closer = runSpecialist("closer-look", folder, { uncertainties });
    const evidence = runRaw("score-evidence", { inputs: { folder }, outputs });
    const report = runRaw("report", { inputs: { folder }, outputs: { ...outputs, "closer-look": closer.output } });
    const everything = JSON.stringify(answers) + JSON.stringify(closer) + evidence + report;
    for (const secret of SECRETS) expect(everything).not.toContain(secret);
    expect(everything).toContain("[redacted]");
    expect(JSON.parse(evidence)).toMatchObject({ score: 100, issues: [] });
  });

  it("finds a secret behind a megabyte without line end, on the right line, once", () => {
    const filler = "word ".repeat(230_000);
    const folder = createTree({ "long.txt": `first\n${filler}${AWS} ${filler}\nlast ${GITHUB}\n` });
    const { output } = runSpecialist("secrets", folder);
    const found = output.doubtful.items.map(({ line, kind }: { line: number; kind: string }) => `${line} ${kind}`);
    expect(found).toEqual(["2 AWS access key id", "3 GitHub token"]);
  });

  it("is not slowed down by text made to slow it down", () => {
    const folder = createTree({
      "a.txt": "eyJ-".repeat(250_000),
      "b.txt": "password".repeat(120_000),
      "c.js": `${'"/*'.repeat(200_000)}\n${"\n".repeat(5000)}`,
      "pom.xml": `<project>${"<dependency><!--".repeat(60_000)}`,
    });
    expect(runSpecialist("secrets", folder).output.searched.files).toBe(4);
    expect(runSpecialist("inventory", folder).output.totals.files).toBe(4);
    expect(runSpecialist("hotspots", folder).output.walked.files).toBe(4);
    expect(runSpecialist("dependencies", folder).output.walked.files).toBe(4);
  });
});

describe("keys and samples", () => {
  const find = (files: Record<string, string>) => {
    const { output } = runSpecialist("secrets", createTree(files));
    return [...output.likely.items, ...output.doubtful.items].map(({ path, line, fingerprint }: Json) => ({
      place: `${path}:${line}`,
      fingerprint: String(fingerprint),
    }));
  };
  const header = PEM.split("\n")[0] ?? "";
  const block = (body: string) => `${header}\n${body}\n${header.replace("BEGIN", "END")}\n`;

  it("[first-use F8] a fingerprint is of the key: keys with the same header differ, and a key is the same however it is wrapped", () => {
    const [body, other] = [PEM, createKey()].map((key) => key.split("\n").slice(1, -2).join("\n"));
    const found = find({
      "a.pem": PEM,
      "b.pem": block(other ?? ""),
      "c.json": `{\n  "key": ${JSON.stringify(PEM)}\n}\n`,
      "d.js": `const key =\n${PEM.trim()
        .split("\n")
        .map((line) => `  "${line}\\n"`)
        .join(" +\n")};\n`,
      "e.yaml": `key: |\n${PEM.replace(/^/gm, "  ")}`,
      "f.pem": block((body ?? "").replaceAll("\n", "").replace(/(.{40})/g, "$1\n")),
    });
    expect(found.map(({ place }) => place)).toEqual([
      "a.pem:1",
      "b.pem:1",
      "c.json:2",
      "d.js:2",
      "e.yaml:2",
      "f.pem:1",
    ]);
    const [a, b, ...copies] = found.map(({ fingerprint }) => fingerprint);
    expect(a).not.toBe(b);
    expect(new Set(copies)).toEqual(new Set([a]));
  });

  it("[first-use F8 kin] a header without a key, a body of x, a cut body and a text about keys are no finding", () => {
    const samples = ["XXXX\nXXXX", "X".repeat(64), "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC...", "<your key here>", ""];
    const files = Object.fromEntries(samples.map((sample, at) => [`src/${at}.txt.js`, `/*\n${block(sample)}*/\n`]));
    expect(find({ ...files, "parse.js": `if (text.startsWith("${header}")) read(text);\n` })).toEqual([]);
  });

  it("[first-use F8 kin] samples that manuals print are no finding", () => {
    const claims = Buffer.from('{"sub":"1234567890","name":"John Doe"}').toString("base64url");
    expect(
      find({
        "aws.js": `const id = "${["AKIA", "IOSFODNN7EXAMPLE"].join("")}";\n`,
        "jwt.js": `const token = "${["eyJhbGciOiJIUzI1NiJ9", claims, "dBjftJeZ4CVPmB92K27uhbUJU1p1r"].join(".")}";\n`,
        "url.js":
          'const a = "postgres://app:s3cr3tK3y@db.example.com/x", b = "mysql://root:root@db", c = "amqp://guest:guest@q";\n',
        "test.txt": "http://%HOST:%HTTPPORT#@127.0.0.1/x ftp://michal:aybabtu@host.com/y\n",
        "real.js": `const url = "postgres://app:${PASSWORD.replace("!", "")}@db.shop.io/x";\n`,
      }).map(({ place }) => place),
    ).toEqual(["real.js:1"]);
  });

  it("finds a key that lies across the end of a piece of a large file, on its line", () => {
    const filler = "word word\n".repeat(104_850);
    expect(find({ "big.log": `${filler}${PEM}${filler}` }).map(({ place }) => place)).toEqual(["big.log:104851"]);
  });
});
