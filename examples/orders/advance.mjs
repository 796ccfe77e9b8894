/** What follows each state, and what is done on the way there. */
const MOVES = {
  placed: { to: "paid", act: async (ctx) => ctx.step("charge", () => ({ receipt: `R-${ctx.input.order}` })) },
  paid: { to: "packing", act: () => undefined },
  packing: {
    act: (ctx) => ctx.channel.add("packed", 1),
    next: (ctx) => ((ctx.channel.get("packed") ?? 0) < ctx.input.pieces ? "packing" : "shipped"),
  },
  shipped: { to: "delivered", act: async (ctx) => ctx.milestone("handed over", { order: ctx.input.order }) },
};

/** One move of the order; asks for another iteration until the order is delivered. */
export async function advance(ctx) {
  const state = ctx.channel.get("state") ?? "placed";
  const move = MOVES[state];
  await move.act(ctx);
  const next = move.to ?? move.next(ctx);
  ctx.channel.set("state", next);
  ctx.channel.append("history", `${state} to ${next}`);
  if (next === "delivered") ctx.checkpoint({ order: ctx.input.order, state: next });
  else ctx.nextIteration();
  return { state: next, history: ctx.channel.get("history"), packed: ctx.channel.get("packed") ?? 0 };
}
