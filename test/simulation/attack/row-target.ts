/** The attacks on a task's rows, in one database that is written anew for each. */
import { SqlStore } from "../../../src/store/sql/sql-store.js";
import { createOwnerFolder } from "../../../src/store/presence/owner-place.js";
import type { SqlDatabase } from "../../../src/store/sql/sql-database.js";
import { SqlPlaces, shareDatabase } from "../../support/sql-places.js";
import { createDiskImage } from "../disk-image.js";
import type { StoreOf } from "../verbs/verb-room.js";
import { createAttackScene, type AttackScene } from "./attack-scene.js";
import { createMachine, newestKeyring, type AttackTarget, type TargetAttack } from "./attack-target.js";
import { listAttacks } from "./attacks.js";
import { listRowAttacks, type RowAttack } from "./row-attacks.js";
import { filesOfRows, readRows, withFile, withFittingEpoch, writeRows, type Row } from "../../support/task-rows.js";

export async function createRowTarget(kind: "sqlite" | "pglite"): Promise<AttackTarget> {
  const places = new SqlPlaces();
  const database = await places.database(kind);
  const store = storeIn(database, kind);
  const scene = await createAttackScene({
    store,
    take: () => readRows(database),
    put: async (rows) => void (await writeRows(database, rows)),
  });
  const files = filesOfRows(scene.newer);
  const keyring = newestKeyring(files.keys());
  const inForce = files.get(keyring) ?? Buffer.alloc(0);
  /** Under a higher number it is the same one. */
  const lacksKeyring = (rows: readonly Row[]): boolean =>
    ![...filesOfRows(rows)].some(
      ([path, bytes]) => path === keyring || (path.startsWith("keyring-") && bytes.equals(inForce)),
    );
  const prepare = ({ name, rows, takesTaskAway = false }: RowAttack): TargetAttack => ({
    name,
    takesTaskAway,
    make: async () => {
      if (!(await writeRows(database, rows))) return undefined;
      return createMachine(createDiskImage(scene.disk, { kind: "kill" }), lacksKeyring(rows), store);
    },
  });
  return {
    close: () => places.close(),
    *attacks() {
      for (const attack of listRowAttacks(scene)) yield prepare(attack);
      for (const attack of asInFolder(scene)) yield prepare(attack);
    },
  };
}

/** What can be done to a folder, done to the rows; all clear columns fit. */
function* asInFolder({ disk, older, newer, elsewhere }: AttackScene<readonly Row[]>): Generator<RowAttack> {
  const files = {
    disk,
    older: filesOfRows(older),
    newer: filesOfRows(newer),
    elsewhere: filesOfRows(elsewhere),
  };
  for (const { name, changes } of listAttacks(files)) {
    let rows = newer;
    for (const [path, bytes] of changes) rows = withFile(rows, path, bytes);
    yield { name, rows: withFittingEpoch(rows) };
  }
}

function storeIn(database: SqlDatabase, kind: "sqlite" | "pglite"): StoreOf {
  return (parts) =>
    new SqlStore({
      address: `${kind}:attacked`,
      traits: { kind, multiProcess: true, durable: true, reserve: true },
      connect: async () => shareDatabase(database),
      deliverablesRoot: "/outputs",
      ownerPlace: (task) => createOwnerFolder({ root: "/owners", task, store: parts }),
      parts,
    });
}
