// Which tasks are run and how each is struck: first every named point, then at random until enough kills have struck.
//
// A strike is one process of the task: {by: "point", point} dies at a named point of its own (kill-child.mjs);
// {by: "effect", name} is killed by the child in the middle of its effect; {by: "outlive", name} the same, with the keeper
// killed first, so that the child lives on until recovery ends it; {by: "time"} dies at a random moment; {by: "tools"}
// loses the process group of a running tool, and lives.

const EFFECTS = ["first", "left", "middle", "right", "last"];
const FIRST_SEED = 7919;

const atPoint = (point) => ({ by: "point", point });
const atEffect = (name) => ({ by: "effect", name });
const outlive = (name) => ({ by: "outlive", name });
const atTime = { by: "time" };
const tools = { by: "tools" };

/** Every named point once, in an order whose beginning already meets each kind. */
function listNamed() {
  const named = [];
  const add = (point, job, ...strikes) => named.push({ point, job, strikes });
  for (const [index, name] of EFFECTS.entries()) {
    const n = index + 1;
    add("start", "ledger", atPoint(`operation:${3 * n}`));
    add("intent", "ledger", atPoint(`intent:${n}`));
    add("effect", "ledger", atEffect(name));
    add("half-snapshot", "ledger", atPoint(`half-snapshot:${n}`));
    add("outlive", "ledger", outlive(name));
    add("done", "ledger", atPoint(`done:${n}`));
    add("recovery", "ledger", atPoint(`done:${n}`), atPoint(`operation:${3 + 5 * n}`), atPoint(`operation:${4 * n}`));
    add("spawned", "ledger", atPoint(`spawned:${n}`));
    add("audit done", "audit", atPoint(`done:${2 * n}`));
    add("audit tools", "audit", tools);
    add("audit half-snapshot", "audit", atPoint(`half-snapshot:${n}`));
    add(
      "audit recovery",
      "audit",
      atPoint(`spawned:${n}`),
      atPoint(`operation:${6 * n}`),
      atPoint(`operation:${9 * n}`),
    );
  }
  return named;
}

function drawRandom({ below, pick }) {
  const operation = () => atPoint(`operation:${1 + below(160)}`);
  const inRecovery = () => atPoint(`operation:${1 + below(60)}`);
  const point = () => atPoint(`${pick(["intent", "spawned", "done", "half-snapshot"])}:${1 + below(5)}`);
  const draw = pick([
    () => ["random", "ledger", atTime, atTime, atTime, atTime],
    () => ["random", "ledger", atTime, point(), atTime],
    () => ["operation", "ledger", operation(), operation(), atTime],
    () => ["recovery", "ledger", atTime, inRecovery(), inRecovery(), inRecovery()],
    () => ["effect", "ledger", atEffect(pick(EFFECTS)), inRecovery(), atTime],
    () => ["outlive", "ledger", outlive(pick(EFFECTS)), inRecovery(), atTime],
    () => ["audit random", "audit", atTime, atTime, atTime],
    () => ["audit operation", "audit", operation(), operation()],
    () => ["audit recovery", "audit", atTime, inRecovery(), inRecovery()],
    () => ["audit tools", "audit", tools, atTime],
  ]);
  const [name, job, ...strikes] = draw();
  return { point: name, job, strikes };
}

/** Strikes at the impatient user's tasks: a kill before each of several rounds of typing. */
function drawImpatient({ below, pick }) {
  const point = () => atPoint(`${pick(["intent", "spawned", "done", "half-snapshot"])}:${1 + below(4)}`);
  const draw = () =>
    pick([
      () => atTime,
      point,
      () => atEffect(pick(EFFECTS)),
      () => outlive(pick(EFFECTS)),
      () => atPoint(`operation:${1 + below(120)}`),
    ])();
  const strikes = Array.from({ length: 3 + below(4) }, draw);
  return { point: `impatient, first ${strikes[0].point?.split(":")[0] ?? strikes[0].by}`, job: "impatient", strikes };
}

/** As `planTasks`, of the impatient user. */
export function planImpatience({ killsWanted, random }) {
  let count = 0;
  return {
    next: (kills) => {
      if (kills >= killsWanted || count > killsWanted * 2) return undefined;
      count += 1;
      return { ...drawImpatient(random), seed: FIRST_SEED * count + random.below(1e6) };
    },
    untouched: () => [],
  };
}

/**
 * Shape: `only` names the points wanted, all when empty. `next(kills)` gives the next task, `undefined` when enough was
 * killed; `untouched(tally)` says which points no kill struck, for then nothing was shown there.
 *
 * @param {{ killsWanted: number, random: ReturnType<typeof import("./random.mjs").createRandom>, only?: string[] }} options
 */
export function planTasks({ killsWanted, random, only = [] }) {
  const known = listNamed();
  const stranger = only.find((name) => !known.some(({ point }) => point === name));
  if (stranger !== undefined) throw new Error(`no such point: ${stranger}`);
  const named = known.filter(({ point }) => only.length === 0 || only.includes(point));
  const isShort = killsWanted < named.length;
  let count = 0;
  return {
    next: (kills) => {
      const isEnough = kills >= killsWanted && (isShort || count >= named.length);
      if (isEnough || count > killsWanted * 2 + named.length) return undefined;
      const chosen = named[count] ?? (only.length === 0 ? drawRandom(random) : random.pick(named));
      count += 1;
      return { ...chosen, seed: FIRST_SEED * count + random.below(1e6) };
    },
    untouched: (tally) =>
      tally.points.filter(({ strikes }) => strikes === 0).map(({ point }) => `${point}: never struck`),
  };
}
