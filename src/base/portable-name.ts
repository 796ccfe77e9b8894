/** Names of files that every platform can hold. */

/** Names that Windows gives to devices, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;
/** Signs that Windows has no files with; control characters nobody should. */
const FORBIDDEN = /[<>:"|?*\\\p{Cc}]/u;

export function isDeviceName(part: string): boolean {
  return DEVICE.test(part);
}

/** Why a part of a path cannot be a file everywhere; `undefined` when it can. */
export function findNameFault(part: string): string | undefined {
  if (part === "" || part === "." || part === "..") return "is no name";
  const sign = FORBIDDEN.exec(part)?.[0];
  if (sign !== undefined) return `has the sign ${JSON.stringify(sign)}`;
  if (isDeviceName(part)) return "is the name of a device on Windows";
  return /[. ]$/.test(part) ? "ends with a dot or a space, which Windows leaves out" : undefined;
}
