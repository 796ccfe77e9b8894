// What came of it, by point.

export class Tally {
  #rows = new Map();
  #say;
  violations = [];

  constructor({ say }) {
    this.#say = say;
  }

  add({ point, strikes, seed }, outcome) {
    const row = this.#rows.get(point) ?? {
      point,
      tasks: 0,
      kills: 0,
      misses: 0,
      unknown: 0,
      parked: 0,
      violations: 0,
      seconds: 0,
    };
    this.#rows.set(point, row);
    row.tasks += 1;
    for (const name of ["kills", "misses", "unknown", "parked", "seconds"]) row[name] += outcome[name];
    row.violations += outcome.violations.length;
    for (const violation of outcome.violations) {
      const where = `${point} (${strikes.map(formatStrike).join(", ")}; seed ${seed}; ${outcome.place.folder})`;
      this.violations.push(`${where}: ${violation}`);
      this.#say(`VIOLATION ${where}: ${violation}`);
    }
  }

  get points() {
    return [...this.#rows.values()].map(({ point, kills }) => ({ point, strikes: kills }));
  }

  get kills() {
    return this.#sum("kills");
  }

  get tasks() {
    return this.#sum("tasks");
  }

  get unknown() {
    return this.#sum("unknown");
  }

  #sum(name) {
    return [...this.#rows.values()].reduce((sum, row) => sum + row[name], 0);
  }

  formatTable() {
    const names = ["tasks", "kills", "misses", "unknown", "parked", "violations", "seconds"];
    const lines = [...this.#rows.values()].map((row) => [
      row.point,
      ...names.map((name) => String(Math.round(row[name]))),
    ]);
    const total = ["total", ...names.map((name) => String(Math.round(this.#sum(name))))];
    return [["point", ...names], ...lines, total]
      .map(([point, ...cells]) => `${point.padEnd(22)}${cells.map((cell) => cell.padStart(12)).join("")}`)
      .join("\n");
  }
}

const formatStrike = ({ by, point, name }) => point ?? (name === undefined ? by : `${by} ${name}`);
