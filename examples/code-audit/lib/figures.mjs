/**
 * Figures: one way to round, one way to divide by nothing, one way to write counts, sizes and plurals.
 *
 * Confidence is measured, never felt. Each specialist says in its header what its four parts are made of:
 *   knowledge       how much of what was met is of a kind the program knows
 *   information     how much of the content could be read and understood
 *   implementation  how much of the planned work was done
 *   validation      how much of the result can be checked again from the files
 */

/** A share in 0..1 to four digits; nothing out of nothing is the whole. */
export function share(part, whole) {
  return whole > 0 ? Math.round((Math.min(part, whole) / whole) * 10_000) / 10_000 : 1;
}

/** The mean of shares, to four digits. */
export function meanShare(shares) {
  const sum = shares.reduce((total, value) => total + value, 0);
  return share(sum, shares.length);
}

/** The four parts of a confidence. Where no file was there to look at, nothing was learnt of any. */
export function confidenceOf(filesSeen, [knowledge, information, implementation, validation]) {
  if (filesSeen === 0) return { knowledge: 0, information: 0, implementation: 1, validation: 0 };
  return { knowledge, information, implementation, validation };
}

/** A share as people read it: whole percent, but never 100 % for less than everything nor 0 % for something. */
export function formatPercent(value) {
  const percent = value * 100;
  if (percent > 0 && percent < 1) return "< 1 %";
  if (percent < 100 && percent > 99) return "> 99 %";
  return `${Math.round(percent)} %`;
}

/** A count as people read it: 12,345. */
export function formatCount(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A count with its noun: `1 file`, `2 files`, `3 copies`; the plural only where it is not made with an s. */
export function count(value, one, many = `${one}s`) {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}

/** A size as people read it. */
export function formatBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return `${unit === 0 ? bytes : (bytes / 1024 ** unit).toFixed(1)} ${units[unit]}`;
}
