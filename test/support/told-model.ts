/** A model that is told of its tools, unlike a scripted one, and asks for what a test wants. */
import type { Model, ModelAnswer, ModelRequest, ToolCall } from "../../src/agents/outcome/contract.js";
import type { JsonObject } from "../../src/base/json.js";

export interface WishedCall {
  readonly tool: string;
  readonly input?: JsonObject;
}

export interface ToldModel {
  readonly model: Model;
  readonly requests: readonly ModelRequest[];
}

/** Asks for one list of calls a turn, then says "done". */
export function createToldModel(turns: readonly (readonly WishedCall[])[]): ToldModel {
  const requests: ModelRequest[] = [];
  return {
    requests,
    model: {
      call: (request) => {
        requests.push({ ...request, messages: [...request.messages] });
        return Promise.resolve(answerOf(turns[request.turn], request.turn));
      },
    },
  };
}

function answerOf(wished: readonly WishedCall[] | undefined, turn: number): ModelAnswer {
  const calls = wished?.map(({ tool: name, input = {} }, index): ToolCall => ({ id: `${turn}.${index}`, name, input }));
  return {
    say: wished === undefined ? "done" : "",
    ...(calls === undefined ? {} : { calls }),
    factors: [],
    usage: { calls: 1, tokensIn: 1, tokensOut: 1 },
  };
}
