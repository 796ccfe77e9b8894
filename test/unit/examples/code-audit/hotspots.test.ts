import { describe, expect, it } from "vitest";
import { createTree, type Json, runSpecialist } from "./audit-tools.js";

const SCRIPT = `// TODO: first
export function plain({ a, b }: { a: number; b: string }, c = 1): { x: number } {
  if (a && b) {
    for (const x of [1]) {
      while (c) { a ? b : c; }
    }
  }
  return { x: a ?? c };
}
const text = "if (x) { // TODO no marker }";
const pattern = /[{"'\`]\\/if/;
const arrow = async (z: number) => {
  // FIXME later
  return \`\${z ? "{" : "}"} if\`;
};
class Thing {
  method(a: string): void {
    switch (a) {
      case "a": break;
      case "b": break;
    }
  }
}
`;

const PYTHON = `def outer(a, b):
    """if this and that"""
    if a and b:
        for x in (1,
                  2):
            pass
    def inner():
        return 1 if a else 2
    return inner

# HACK for now
async def last():
    try:
        pass
    except ValueError:
        pass
`;

describe("hotspots", () => {
  const functions = (output: Json): Record<string, number[]> =>
    Object.fromEntries(
      output.functions.longest.map((f: Json) => [f.name, [f.line, f.lines, f.branches, f.nesting]] as const),
    );

  it("finds functions by braces, with length, branches and nesting", () => {
    const { output, confidence } = runSpecialist("hotspots", createTree({ "a.ts": SCRIPT }));
    expect(functions(output)).toEqual({
      plain: [2, 8, 6, 3],
      arrow: [12, 4, 1, 0],
      method: [17, 6, 2, 1],
    });
    expect(output.functions.found).toBe(3);
    expect(confidence["validation"]).toBe(1);
  });

  it("finds functions by indentation in Python", () => {
    const { output } = runSpecialist("hotspots", createTree({ "a.py": PYTHON }));
    expect(functions(output)).toEqual({ outer: [1, 9, 3, 2], inner: [7, 2, 1, 0], last: [12, 5, 1, 1] });
  });

  it("finds functions in other languages with braces, past what misleads a scanner", () => {
    const sources: Record<string, string> = {
      "a.rs":
        "impl<'a> Foo<'a> {\n    pub fn parse(&'a self, x: char) -> Result<Vec<u8>, E> {\n        match x {\n            '{' => Ok(vec![]),\n            '\\'' if x == 'a' => { for i in 0..3 { p(i); } Ok(vec![]) }\n            _ => Err(e),\n        }\n    }\n}\n",
      "b.go":
        "func (s *Server) Handle(w W, r *R) (int, error) {\n\tif x := foo(); x != nil {\n\t\tfor i := 0; i < 10; i++ {\n\t\t}\n\t}\n\ts2 := `raw { string`\n\treturn 0, nil\n}\n",
      "C.java":
        "public class C extends D {\n  public <T> List<T> sort(final List<T> in) throws IOException {\n    if (in == null || x) { return null; }\n    char c = '{';\n    return new ArrayList<>() {{ add(null); }};\n  }\n}\n",
      "d.c":
        "#define X(a) do { \\\n  a; { \\\n} while (0)\nstatic int foo(int a, char *b)\n{\n  if (a) { return 1; } else if (b) { for (;;) { } }\n}\nstruct s { int x; };\nstatic struct s *make(int n,\n                     const struct s *from)\n{\n  return 0;\n}\n",
      "f.cs":
        'class A<T> where T : class {\n  public async Task<int> Run(string a = "{") {\n    using (var x = y) { lock (z) { if (a) return 1; } }\n  }\n  int P { get; set; }\n}\n',
      "e.php": "<?php\nclass A { public function go($x): ?array { foreach ($x as $y) { } return ['a' => 1]; } }\n",
    };
    const { output, confidence } = runSpecialist("hotspots", createTree(sources));
    const found = output.functions.longest.map((f: Json) => [f.path, f.name, f.line, f.lines, f.branches, f.nesting]);
    expect(found.toSorted()).toEqual([
      ["C.java", "sort", 2, 5, 2, 1],
      ["a.rs", "parse", 2, 7, 2, 3],
      ["b.go", "Handle", 1, 8, 2, 2],
      ["d.c", "foo", 4, 4, 3, 2],
      ["d.c", "make", 9, 5, 0, 0],
      ["e.php", "go", 2, 1, 1, 1],
      ["f.cs", "Run", 2, 3, 1, 2],
    ]);
    expect(confidence["validation"]).toBe(1);
  });

  it("takes for functions what has the word where the language has one, on the line of its name", () => {
    const sources = {
      "a.rs": "fn run(x: u8) -> u8 {\n    let y = match parse(x) {\n        _ => 1,\n    };\n    y\n}\n",
      "b.go":
        "var one = 1\nvar f = func(a int) error {\n\treturn nil\n}\n\nfunc (s *S) Run(g func(int) error) error {\n\treturn g(1)\n}\n",
      "c.php":
        "<?php\nfunction go($x)\n{\n  if ($x) { } elseif (test($x)) { }\n  return array_map(function ($a) use ($x) { return $a; }, $x);\n}\n",
      "D.java": "class D {\n  <T> T apply(\n      final Function<T> function) {\n    return null;\n  }\n}\n",
    };
    const { output } = runSpecialist("hotspots", createTree(sources));
    const found = output.functions.longest.map((f: Json) => `${f.path}:${f.line} ${f.name} ${f.lines}`);
    expect(found.toSorted()).toEqual([
      "D.java:2 apply 4",
      "a.rs:1 run 6",
      "b.go:2 (anonymous) 3",
      "b.go:6 Run 3",
      "c.php:2 go 5",
      "c.php:5 (anonymous) 1",
    ]);
  });

  it("goes through each way of the preprocessor with the braces that were open before it", () => {
    const text =
      "int one(int a)\n{\n#ifdef X\n  if (a) {\n#elif Y\n  if (!a) {\n#else\n  while (a) {\n#endif\n    a();\n  }\n}\nint two(void) { return 1; }\n";
    const { output, confidence } = runSpecialist("hotspots", createTree({ "a.c": text }));
    expect(functions(output)).toEqual({ one: [1, 12, 3, 1], two: [13, 1, 0, 0] });
    expect(confidence["validation"]).toBe(1);
  });

  it("counts markers only in comments", () => {
    const { output } = runSpecialist("hotspots", createTree({ "a.ts": SCRIPT, "b.py": PYTHON }));
    expect(output.markers).toMatchObject({ TODO: 1, FIXME: 1, HACK: 1, XXX: 0, total: 3, files: 2 });
    expect(output.markers.places.items).toEqual([
      { path: "a.ts", line: 1, marker: "TODO", text: "first" },
      { path: "a.ts", line: 13, marker: "FIXME", text: "later" },
      { path: "b.py", line: 11, marker: "HACK", text: "for now" },
    ]);
  });

  it("[first-use F8 kin] finds no marker in a text literal, also in one over lines", () => {
    const folder = createTree({
      "a.ts": "const sample = `\n// FIXME later\n${a /* TODO: in a hole */}\n`; // HACK: real\n",
      "b.py": 'TEXT = """\n# TODO: none\n"""\n\ndef f():\n    """TODO: real"""\n',
      "c.go": "var s = `// XXX none`\n",
      "d.sh": 'echo "# TODO none" # FIXME: real\n',
    });
    const { output } = runSpecialist("hotspots", folder);
    const places = output.markers.places.items.map(({ path, line, marker }: Json) => `${path}:${line} ${marker}`);
    expect(places).toEqual(["a.ts:3 TODO", "a.ts:4 HACK", "b.py:6 TODO", "d.sh:1 FIXME"]);
  });

  it("claims no function in a language whose functions it cannot find", () => {
    const { output, confidence } = runSpecialist("hotspots", createTree({ "a.rb": "def x\n  1 if y\nend\n" }));
    expect(output.functions.found).toBe(0);
    expect(output.languages).toEqual([{ language: "Ruby", files: 1, code: 3, functions: 0, heuristic: "none" }]);
    expect(confidence["knowledge"]).toBe(0);
  });

  it("does not take the wrapper of a module or of tests for a long function", () => {
    const body = "  let a = 1;\n".repeat(100);
    const { output } = runSpecialist(
      "hotspots",
      createTree({
        "m.js": `(function () {\n${body}})();\n`,
        "t.js": `describe("x", () => {\n${body}});\nlet b;\n`.repeat(2),
      }),
    );
    expect(output.functions).toMatchObject({ found: 0, module_wrappers: 3, long: 0 });
  });

  it("looks at a spread of files first and at all of them when the evaluator asks", () => {
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_value, at) => [`f${at}.js`, `function f${at}() {}\n`]),
    );
    const folder = createTree(files);
    const input = { folder, first_pass_files: 10 };
    const first = runSpecialist("hotspots", folder, { input });
    expect(first.output.coverage).toEqual({ eligible: 40, examined: 10, share: 0.25, limit: 10 });
    expect(first.confidence["implementation"]).toBe(0.25);
    const outputs = { hotspots: first.output };
    const scorer = runSpecialist("score-completeness", folder, { outputs }) as unknown as { feedback: string };
    const second = runSpecialist("hotspots", folder, { input, feedback: ["other", scorer.feedback] });
    expect(second.output.coverage).toEqual({ eligible: 40, examined: 40, share: 1, limit: null });
  });
});
