/** The few functions that generated validators call; the same behaviour as ajv's own. */

/** Length of a text in code points, as JSON Schema counts it. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const next = text.charCodeAt(index + 1);
    if (unit >= 0xd800 && unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) index += 1;
    count += 1;
  }
  return count;
}

/** Deep equality of JSON values. */
export function isDeepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  return isRecordEqual(left, right);
}

/** Arrays too: their indexes are their names. */
function isRecordEqual(left: object, right: object): boolean {
  const other = new Map<string, unknown>(Object.entries(right));
  const entries = Object.entries(left);
  return (
    entries.length === other.size &&
    entries.every(([name, item]) => other.has(name) && isDeepEqual(item, other.get(name)))
  );
}
