/**
 * What a call cost. Prices come as data; a model without one has an unknown cost, which is not zero.
 *
 * Units: prices in dollars for a million tokens, which are micro-dollars for one token.
 */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Absent: as input. */
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** Prices by `provider/model`, or by model alone. A name that ends in `*` is every model that begins so. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  /** Of the input. */
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** The price of a model: its own, else the longest beginning; `undefined` when nobody knows. */
export function findPrice(table: PriceTable, provider: string, model: string): ModelPrice | undefined {
  const full = `${provider}/${model}`;
  const own = table[full] ?? table[model];
  if (own !== undefined) return own;
  const open = Object.keys(table).filter(
    (name) => name.endsWith("*") && (full.startsWith(name.slice(0, -1)) || model.startsWith(name.slice(0, -1))),
  );
  const longest = open.sort((left, right) => right.length - left.length)[0];
  return longest === undefined ? undefined : table[longest];
}

/** Units: whole micro-dollars, rounded up. */
export function computeCostMicroUsd(price: ModelPrice, counts: TokenCounts): number {
  const plain = Math.max(0, counts.input - counts.cacheRead - counts.cacheWrite);
  const cost =
    plain * price.input +
    counts.cacheRead * (price.cacheRead ?? price.input) +
    counts.cacheWrite * (price.cacheWrite ?? price.input) +
    counts.output * price.output;
  return Math.ceil(Number(cost.toFixed(6)));
}
