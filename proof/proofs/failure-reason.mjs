/** Why a program that was run here failed, in one line: what it said, else what became of it. Shape: never empty. */
export function reasonOf(error) {
  const lines = `${error.stderr ?? ""}\n${error.message}`.split("\n").map((line) => line.trim());
  return lines.find((line) => line !== "") ?? "it says no reason";
}
