// LangGraph.js with its SQLite saver: one node run over and over, its state saved after each run.
//   node langgraph.mjs COUNT VALUE_BYTES FOLDER
import { statSync } from "node:fs";
import { join } from "node:path";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";

const [count, valueBytes] = process.argv.slice(2, 4).map(Number);
const file = join(process.argv[4], "langgraph.db");
const State = Annotation.Root({
  done: Annotation(),
  values: Annotation({ reducer: (before, more) => before.concat(more), default: () => [] }),
});
const starts = [];
const again = ({ done }) => {
  starts.push(performance.now());
  return { done: done + 1, values: ["v".repeat(valueBytes)] };
};
const graph = new StateGraph(State)
  .addNode("again", again)
  .addEdge(START, "again")
  .addConditionalEdges("again", ({ done }) => (done < count ? "again" : END))
  .compile({ checkpointer: SqliteSaver.fromConnString(file) });
// `sync`: a step is saved before the next one begins, as with us.
const settings = { configurable: { thread_id: "bench" }, recursionLimit: count + 10, durability: "sync" };
await graph.invoke({ done: 0 }, settings);
const onDisk = [file, `${file}-wal`].reduce(
  (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
  0,
);
console.log(JSON.stringify({ stepMs: (starts.at(-1) - starts[0]) / (count - 1), onDisk }));
