// Stands for @photostructure/sqlite in a process that is to die at a statement: the same class, with hooked statements.
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);
let prepared = (statement) => statement;

export function setPrepared(hook) {
  prepared = hook;
}

function createHookedClass() {
  const { DatabaseSync: Original } = load("@photostructure/sqlite");
  return class extends Original {
    prepare(sql) {
      return prepared(super.prepare(sql), sql);
    }
  };
}

/** Looked up at the first use: on a Node with `node:sqlite` the package need not be there. */
export const DatabaseSync = new Proxy(class {}, { construct: (_target, args) => new (createHookedClass())(...args) });
