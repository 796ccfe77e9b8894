/** Calls of models, tokens and money in words. What nobody knows is called unknown, never nothing. Pure. */
import { formatCount } from "../../base/plain-text.js";
import type { MetricsView, SpentView } from "../../runtime/contract.js";

/** A task's own figures as what was spent. */
export function spentOf({
  api_calls,
  tokens_used,
  cost_usd,
  unpriced_calls,
  uncounted_calls = 0,
}: MetricsView): SpentView {
  return { calls: api_calls, tokens: tokens_used, cost_usd, unpriced_calls, uncounted_calls };
}

/** Shape: `3 model calls, 480 tokens, $0.0040`; `no model calls`. */
export function formatSpent(spent: SpentView): string {
  if (spent.calls === 0) return "no model calls";
  return `${formatCount(spent.calls, "model call")}, ${formatTokens(spent)}, ${formatMoney(spent)}`;
}

export function formatTokens({ calls, tokens, uncounted_calls: uncounted }: SpentView): string {
  if (uncounted >= calls && tokens === 0) return "tokens unknown";
  return `${formatCount(tokens, "token")}${uncounted === 0 ? "" : ` and those of ${formatCount(uncounted, "call")} unknown`}`;
}

export function formatMoney({ calls, cost_usd: cost, unpriced_calls: unpriced }: SpentView): string {
  if (unpriced >= calls && cost === 0) return "cost unknown";
  return `$${cost.toFixed(4)}${unpriced === 0 ? "" : ` and ${formatCount(unpriced, "call")} of unknown price`}`;
}

/** The cost for a column. Shape: `$0.04`, `$0.0004`, `unknown`, `$0.04 + ?` where the price of some calls is unknown; empty without calls. */
export function formatMoneyCell({ calls, cost_usd: cost, unpriced_calls: unpriced }: SpentView): string {
  if (calls === 0) return "";
  if (unpriced >= calls && cost === 0) return "unknown";
  return `$${cost >= 0.01 || cost === 0 ? cost.toFixed(2) : cost.toFixed(4)}${unpriced === 0 ? "" : " + ?"}`;
}

/** The tokens for a column. Shape: `480`, `18.5 k`, `2.1 M`, `unknown`. */
export function formatTokensCell({ calls, tokens, uncounted_calls: uncounted }: SpentView): string {
  if (calls === 0) return "";
  if (uncounted >= calls && tokens === 0) return "unknown";
  return `${shorten(tokens)}${uncounted === 0 ? "" : " + ?"}`;
}

function shorten(count: number): string {
  if (count < 10_000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)} k` : `${(count / 1_000_000).toFixed(1)} M`;
}
