/** Runs suites, some side by side, and tells each as it ends. */
const WIDTH = 72;
const SHOWN = 5;

/** Those of a form whose name fits. */
export function selectSuites(suites, { form, only = "" }) {
  return suites.filter(({ name, least }) => least[form] !== undefined && new RegExp(only, "i").test(name));
}

/**
 * What a suite found, held against what it must try at least.
 *
 * @param {{ name: string, least: number }} suite
 * @param {import("./suite-runs.mjs").Found} found
 */
export function judgeSuite({ name, least }, { tried, violations, skipped, untried = [] }) {
  const isShort = skipped === undefined && tried < least;
  return { suite: name, tried, least, violations, skipped, untried, isShort, ok: violations.length === 0 && !isShort };
}

export class Table {
  #form;
  #print;

  constructor({ form, print }) {
    this.#form = form;
    this.#print = print;
  }

  list(suites) {
    for (const { name, least } of suites)
      this.#print(`${name.padEnd(WIDTH)} ${String(least[this.#form]).padStart(10)}`);
  }

  /** Shape: the rows in the order in which they ended, and whether all of them are good; none at all are not. */
  async run(suites, workers) {
    const startMs = performance.now();
    const rows = [];
    this.#print(formatRow("suite", ["cases", "violations", "time"]));
    const queue = suites.filter(({ alone }) => alone !== true);
    await Promise.all(Array.from({ length: workers }, () => this.#work(queue, rows)));
    await this.#work(
      suites.filter(({ alone }) => alone === true),
      rows,
    );
    const sum = (count) => rows.reduce((total, row) => total + count(row), 0);
    const seconds = secondsSince(startMs);
    const wrong = sum((row) => row.violations.length);
    this.#print(formatRow("in all", [sum((row) => row.tried), wrong, `${seconds} s`]));
    return { form: this.#form, rows, seconds, ok: rows.length > 0 && rows.every(({ ok }) => ok) };
  }

  async #work(queue, rows) {
    for (let suite = queue.shift(); suite !== undefined; suite = queue.shift()) {
      const startMs = performance.now();
      const found = await suite.run(this.#form);
      const row = judgeSuite({ name: suite.name, least: suite.least[this.#form] }, found);
      rows.push({ ...row, seconds: secondsSince(startMs) });
      this.#tell(rows.at(-1));
    }
  }

  #tell({ suite, tried, least, violations, skipped, untried, isShort, seconds }) {
    this.#print(formatRow(suite, [tried, violations.length, `${seconds} s`]));
    if (skipped !== undefined) this.#print(`  skipped: ${skipped}`);
    if (isShort) this.#print(`  TOO FEW: at least ${least}`);
    for (const what of untried) this.#print(`  not tried here: ${what}`);
    for (const violation of violations.slice(0, SHOWN)) this.#print(`  VIOLATION ${violation}`);
  }
}

function formatRow(name, [tried, wrong, time]) {
  return `${name.padEnd(WIDTH)} ${String(tried).padStart(10)} ${String(wrong).padStart(10)} ${time.padStart(8)}`;
}

function secondsSince(ms) {
  return Math.round((performance.now() - ms) / 1000);
}
