/** Errors of the platform exactly as Node makes them, also those that Node has no name for. */
import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";

/** Linux's numbers that `os.constants` lacks. */
const UNLISTED: Readonly<Record<string, number>> = { EUCLEAN: 117, EREMOTEIO: 121 };
const NAMED = new Set([...getSystemErrorMap().values()].map(([name]) => name));

/** What an error of that name carries; `sync` as a call that does not wait reports it. */
export function platformErrorFields(name: string, sync = false): { readonly code: string; readonly errno: number } {
  const number = { ...UNLISTED, ...constants.errno }[name as keyof typeof constants.errno];
  if (number === undefined) throw new Error(`${name} is no errno of this platform`);
  const unnamed = sync ? "UNKNOWN" : `Unknown system error -${number}`;
  return { code: NAMED.has(name) ? name : unnamed, errno: -number };
}

export function createPlatformError(name: string, path = "", sync = false): Error {
  const fields = platformErrorFields(name, sync);
  return Object.assign(new Error(`${fields.code}: ${path}`), fields);
}
