// A resolve hook of Node: imports of @photostructure/sqlite get `hooked-sqlite.mjs` beside this file.
const STAND_IN = new URL("./hooked-sqlite.mjs", import.meta.url).href;

export async function resolve(specifier, context, nextResolve) {
  if (specifier === "@photostructure/sqlite") return { url: STAND_IN, shortCircuit: true };
  return nextResolve(specifier, context);
}
