const START = { state: "placed", history: [], packed: 0 };

/** What follows each state: the state after it, given the order and what was asked for. */
const NEXT = {
  placed: () => "paid",
  paid: () => "packing",
  packing: (order, pieces) => (order.packed + 1 < pieces ? "packing" : "shipped"),
  shipped: () => "delivered",
};

function moveOn(order, pieces) {
  const next = NEXT[order.state](order, pieces);
  return {
    state: next,
    history: [...order.history, `${order.state} to ${next}`],
    packed: order.packed + (order.state === "packing" ? 1 : 0),
  };
}

/**
 * One move of the order; asks for another iteration until the order is delivered.
 *
 * The channel changes when the step completes and not before, so an attempt that died on the way is repeated from the state
 * the order had before it.
 */
export async function advance(ctx) {
  const { order, pieces } = ctx.input;
  const moved = moveOn(ctx.channel.get("order") ?? START, pieces);
  if (moved.state === "paid") await ctx.step("charge", () => ({ receipt: `R-${order}` }));
  ctx.channel.set("order", moved);
  ctx.channel.add("moves", 1);
  if (moved.state === "delivered") ctx.checkpoint({ order, state: moved.state });
  else ctx.nextIteration();
  return { ...moved, moves: ctx.channel.get("moves") };
}
