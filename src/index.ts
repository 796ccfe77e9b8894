/** The library: what the command gives, for programs. */
export { openSplashdown, type OpenOptions } from "./runtime/open.js";
export type * from "./runtime/contract.js";
export { SplashdownError } from "./base/errors.js";
export type { ErrorCode } from "./base/error-table.js";
