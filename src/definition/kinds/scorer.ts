/** The judge of one dimension of a phase, made by the builder of phases: no file names the kind. */
import { unreachable } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import type { ScorerStep } from "../model/step.js";
import { withoutUndefined, type Kind, type Renderer } from "./kind.js";

export const SCORER: Kind<ScorerStep> = {
  effects: "none",
  endedBy: "performer",
  seesEverything: true,
  render: renderScorer,
};

function renderScorer(node: ScorerStep, render: Renderer): JsonObject {
  const { scorer, dimension } = node;
  switch (scorer.by) {
    case "command":
      return { dimension, command: render.texts(scorer.command), environment: render.environment(scorer.environment) };
    case "schema":
      return { dimension };
    case "expression":
      return withoutUndefined({ dimension, score: render.value(scorer.expression) });
    case "model":
      return withoutUndefined({
        dimension,
        provider: scorer.provider,
        model: scorer.model,
        rubric: render.text(scorer.rubric),
      });
    default:
      return unreachable(scorer);
  }
}
