// Stands for @photostructure/sqlite in a process that is to die at a statement: the same class, with hooked statements.
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);
let prepared = (statement) => statement;

export function setPrepared(hook) {
  prepared = hook;
}

/** Looked up at the first use: on a Node with `node:sqlite` the package need not be there. */
export function DatabaseSync(...args) {
  const { DatabaseSync: Original } = load("@photostructure/sqlite");
  const connection = new Original(...args);
  return {
    exec: (sql) => connection.exec(sql),
    prepare: (sql) => prepared(connection.prepare(sql), sql),
    close: () => connection.close(),
  };
}
