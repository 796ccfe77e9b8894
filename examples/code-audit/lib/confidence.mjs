/**
 * Owns the arithmetic of confidence and of shares: one way to round, one way to divide by nothing.
 *
 * Confidence is measured, never felt. Each specialist states in its own header what its four parts are made of:
 *   knowledge       how much of what was met is of a kind the tool knows
 *   information     how much of the content could be read and understood as text
 *   implementation  how much of the planned work was done
 *   validation      how much of the result can be checked again from the files
 */

/** A share in 0..1 to four digits; nothing out of nothing is the whole. */
export function share(part, whole) {
  return whole > 0 ? Math.round((Math.min(part, whole) / whole) * 10_000) / 10_000 : 1;
}

/** The mean of shares, to four digits. */
export function meanShare(shares) {
  return share(
    shares.reduce((sum, value) => sum + value, 0),
    shares.length,
  );
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

/** A size as people read it. */
export function formatBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
