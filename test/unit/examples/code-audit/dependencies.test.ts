import { describe, expect, it } from "vitest";
import { selectLicenceGroup } from "../../../../examples/code-audit/lib/licences.mjs";
import { createTree, type Json, runSpecialist } from "./audit-tools.js";

const MIT =
  "Permission is hereby granted, free of charge, to any person obtaining a copy of this software\n\nThe above copyright notice and\n";
const GPL = "                    GNU GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007\n";

const named = (list: Json[]): string[] => list.map(({ name, wanted, scope }) => `${name} ${wanted} ${scope}`);

describe("dependencies", () => {
  it("reads what manifests of every parsed format declare", () => {
    const folder = createTree({
      "package.json":
        '{"name":"p","license":"MIT","dependencies":{"a":"^1.0.0","b":"*"},"devDependencies":{"c":"git+https://u:pw@h.example/c.git"}}',
      "py/requirements.txt":
        "# note\nflask==2.0 # web\nrequests[security]>=2,<3 ; python_version > '3'\n-r other.txt\nloose\n",
      "py/pyproject.toml":
        '[project]\nname = "q"\ndependencies = [\n  "click>=8",  # cli\n]\n[project.optional-dependencies]\ntest = ["pytest"]\n',
      "poetry/pyproject.toml":
        '[tool.poetry]\nname = "r"\n[tool.poetry.dependencies]\npython = "^3"\nhttpx = "^0.27"\n[tool.poetry.group.dev.dependencies]\nruff = {version = "0.5"}\n',
      "go/go.mod":
        "module example.org/x\n\nrequire (\n\tgithub.com/a/b v1.2.3\n\tgolang.org/x/net v0.1.0 // indirect\n)\nrequire github.com/c/d v0.0.1\n",
      "rs/Cargo.toml":
        '[package]\nname = "z"\nlicense = "MIT OR Apache-2.0"\n[dependencies]\nserde = { version = "1", features = ["derive"] }\n[dev-dependencies]\nrand = "0.8"\n[dependencies.tokio]\nversion = "1.0"\n',
      "mvn/pom.xml":
        "<project><parent><artifactId>no</artifactId></parent><artifactId>m</artifactId><dependencies><dependency><groupId>g</groupId><artifactId>j</artifactId><version>4</version><scope>test</scope></dependency></dependencies></project>",
      "rb/Gemfile": "source 'x'\ngem 'rails', '~> 7'\ngem \"puma\"\n",
      "php/composer.json": '{"require":{"php":">=8","ext-json":"*","a/b":"^2"}}',
      "net/x.csproj":
        '<Project><ItemGroup><PackageReference Include="N.Json" Version="13.0.1" /></ItemGroup></Project>',
      "setup.py": "setup()\n",
      "yarn.lock": "",
    });
    const { output } = runSpecialist("dependencies", folder);
    const byEcosystem = (name: string) =>
      named(output.declared.items.filter(({ ecosystem }: Json) => ecosystem === name));
    expect(byEcosystem("npm")).toEqual([
      "a ^1.0.0 runtime",
      "b * runtime",
      "c git+https://h.example/c.git development",
    ]);
    expect(byEcosystem("Python")).toEqual([
      "click >=8 runtime",
      "flask ==2.0 runtime",
      "httpx ^0.27 runtime",
      "loose  runtime",
      "pytest  development",
      "requests >=2,<3 runtime",
      "ruff 0.5 development",
    ]);
    expect(byEcosystem("Go")).toEqual([
      "github.com/a/b v1.2.3 runtime",
      "github.com/c/d v0.0.1 runtime",
      "golang.org/x/net v0.1.0 indirect",
    ]);
    expect(byEcosystem("Rust")).toEqual(["rand 0.8 development", "serde 1 runtime", "tokio 1.0 runtime"]);
    expect(byEcosystem("Maven")).toEqual(["g:j 4 development"]);
    expect(byEcosystem("Ruby")).toEqual(["puma  runtime", "rails ~> 7 runtime"]);
    expect(byEcosystem("PHP")).toEqual(["a/b ^2 runtime"]);
    expect(byEcosystem(".NET")).toEqual(["N.Json 13.0.1 runtime"]);
    expect(output.declared.loose.items.map(({ name, reason }: Json) => `${name}: ${reason}`)).toEqual([
      "loose: any version",
      "pytest: any version",
      "b: any version",
      "c: comes from a URL",
    ]);
    expect(output.manifests.items.find(({ ecosystem }: Json) => ecosystem === "Maven").name).toBe("m");
    expect(output.not_parsed.items).toEqual(["setup.py"]);
    expect(output.locks.items).toEqual(["yarn.lock"]);
    expect(output.unparsable.total).toBe(0);
  });

  it("reads licences of declared packages from where they are installed, else from the lock", () => {
    const lock = {
      packages: {
        "": {},
        "node_modules/c": { version: "3.0.0", license: "ISC" },
        "node_modules/t": { version: "1.0.0", license: "AGPL-3.0-only", hasInstallScript: true, deprecated: "use u" },
      },
    };
    const folder = createTree({
      "package.json": '{"dependencies":{"a":"1","b":"2","c":"3","d":"4"}}',
      "package-lock.json": JSON.stringify(lock),
      "node_modules/a/package.json": '{"name":"a","version":"1.0.0","license":"BSD-3-Clause"}',
      "node_modules/b/package.json": '{"name":"b","version":"2.0.0"}',
      "node_modules/b/LICENSE": GPL,
    });
    const { output, confidence } = runSpecialist("dependencies", folder);
    const licences = output.declared.items.map(({ name, licence, source }: Json) => `${name} ${licence} ${source}`);
    expect(licences).toEqual(["a BSD-3-Clause manifest", "b GPL-3.0 licence text", "c ISC lock", "d unknown "]);
    expect(output.licences.attention.items.map(({ group, name }: Json) => `${group}: ${name}`)).toEqual([
      "network copyleft: t",
      "strong copyleft: b",
      "unknown: d",
    ]);
    expect(output.licences.counted).toBe(5);
    expect(output.locked).toMatchObject({
      packages: 2,
      deprecated: { items: [{ name: "t", version: "1.0.0", message: "use u" }] },
      with_install_scripts: { items: [{ name: "t", version: "1.0.0" }] },
    });
    expect(confidence["information"]).toBe(0.8);
  });

  it("lists the licence of every package in a tree of installed packages", () => {
    const folder = createTree({
      "node_modules/a/package.json": '{"name":"a","version":"1.0.0","license":"MIT","scripts":{"postinstall":"x"}}',
      "node_modules/a/dist/esm/package.json": '{"type":"module"}',
      "node_modules/a/node_modules/b/package.json":
        '{"name":"b","version":"1.0.0","licenses":[{"type":"MIT"},{"type":"GPL-2.0"}]}',
      "node_modules/b/package.json": '{"name":"b","version":"2.0.0","license":"SEE LICENSE IN LICENSE"}',
      "node_modules/b/LICENSE": MIT,
      "node_modules/@s/c/package.json": '{"name":"@s/c","version":"1.0.0","license":"LGPL-3.0"}',
      "node_modules/@s/c/test/package.json": "{broken",
    });
    const { output } = runSpecialist("dependencies", `${folder}/node_modules`);
    expect(output.mode).toBe("installed packages");
    expect(output.installed).toMatchObject({ packages: 4, distinct: 3 });
    expect(output.installed.several_versions.items).toEqual([{ name: "b", versions: ["1.0.0", "2.0.0"] }]);
    expect(output.licences.by_group).toEqual([
      { group: "permissive", packages: 3 },
      { group: "weak copyleft", packages: 1 },
    ]);
    expect(output.install_scripts.items).toEqual([
      { name: "a", version: "1.0.0", path: "a/package.json", scripts: ["postinstall"] },
    ]);
    expect(output.unparsable.total).toBe(0);
  });

  it("[first-use F8 kin] counts no package as a dependency of itself, and tells developers' groups from run time", () => {
    const folder = createTree({
      "pyproject.toml":
        '[project]\nname = "requests"\ndependencies = ["idna>=2.5,<4"]\n[project.optional-dependencies]\nsocks = ["PySocks>=1.5.6"]\n[dependency-groups]\ntest = ["pytest", "requests[socks]", {include-group = "docs"}]\ndocs = ["Sphinx"]\n',
      "requirements-dev.txt": "pytest>=2.8\nhttpbin\n",
      "docs/requirements.txt": "Sphinx==7\n",
    });
    const { output } = runSpecialist("dependencies", folder);
    expect(named(output.declared.items)).toEqual([
      "PySocks >=1.5.6 optional",
      "Sphinx ==7 development",
      "httpbin  development",
      "idna >=2.5,<4 runtime",
      "pytest  development",
    ]);
    expect(output.declared.by_scope).toEqual({ development: 3, optional: 1, runtime: 1 });
  });

  it("reads of a Maven module what its project and its parent say, and counts no module of the tree", () => {
    const module = (name: string, dependencies = "") =>
      `<project><parent><groupId>g</groupId><version>3</version></parent><artifactId>${name}</artifactId><dependencies>${dependencies}</dependencies></project>`;
    const dependency = (group: string, name: string) =>
      `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>\${project.version}</version></dependency>`;
    const folder = createTree({
      "a/pom.xml": module("a", dependency("${project.groupId}", "b") + dependency("${project.groupId}", "other")),
      "b/pom.xml": module("b"),
      ".tools/requirements.txt": "codespell==1\n",
      LICENSE: MIT,
    });
    const { output } = runSpecialist("dependencies", folder);
    expect(named(output.declared.items)).toEqual(["g:other 3 runtime", "codespell ==1 development"]);
    expect(output.own_licence).toEqual({ licence: "MIT", source: "licence text" });
  });

  it("sorts licence expressions by what they ask for", () => {
    const groups = {
      MIT: "permissive",
      "MIT OR GPL-3.0": "permissive",
      "(MIT AND GPL-3.0-or-later)": "strong copyleft",
      "GPL-2.0 WITH Classpath-exception-2.0": "strong copyleft",
      "MPL-2.0": "weak copyleft",
      "AGPL-3.0-only": "network copyleft",
      UNLICENSED: "restricted",
      "GNU Lesser General Public License": "weak copyleft",
      Something: "other",
      "": "unknown",
    };
    for (const [expression, group] of Object.entries(groups)) expect(selectLicenceGroup(expression)).toBe(group);
  });
});
