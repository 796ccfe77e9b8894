/**
 * A thousand tasks in ten layers: each waits for two of the layer before and adds up what they give.
 *
 *   splashdown run workflow.mjs
 */
import { defineWorkflow } from "splashdown";

const LAYERS = 10;
const WIDTH = 100;
const nameOf = (layer, place) => `task_${layer}_${place % WIDTH}`;

function taskOf(layer, place) {
  const name = nameOf(layer, place);
  if (layer === 0) return { name, type: "set", value: "{{ 1 }}" };
  const [left, right] = [nameOf(layer - 1, place), nameOf(layer - 1, place + 1)];
  const value = `{{ ${left}.output + ${right}.output }}`;
  return { name, type: "set", value, depends_on: [left, right] };
}

const steps = Array.from({ length: LAYERS * WIDTH }, (_none, index) =>
  taskOf(Math.floor(index / WIDTH), index % WIDTH),
);

export default defineWorkflow({
  workflow: { name: "layers", description: "A thousand tasks in ten layers" },
  steps,
  output: {
    first: `{{ ${nameOf(LAYERS - 1, 0)}.output }}`,
    last: `{{ ${nameOf(LAYERS - 1, WIDTH - 1)}.output }}`,
  },
});
