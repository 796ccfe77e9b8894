import { describe, expect, it } from "vitest";
import { formatRoute, parseRoute } from "../../../web/model/route.js";

describe("the address of the page", () => {
  it.each([
    [
      "#/tasks?status=failed&q=two+words",
      { place: "tasks", tab: "overview", query: { status: "failed", q: "two words" } },
    ],
    ["#/inbox", { place: "inbox", tab: "overview", query: {} }],
    ["#/task/a%2Fb/graph", { place: "task", task: "a/b", tab: "graph", query: {} }],
    ["#/task/crawl", { place: "task", task: "crawl", tab: "overview", query: {} }],
    ["#/task/crawl/nothing", { place: "task", task: "crawl", tab: "overview", query: {} }],
    ["#/task/50%/steps", { place: "task", task: "50%", tab: "steps", query: {} }],
  ])("%s is understood", (hash, route) => {
    expect(parseRoute(hash)).toEqual(route);
  });

  it.each(["", "#", "#/", "#/nowhere", "#/task", "#/task/"])("%j is the start, where the page chooses", (hash) => {
    expect(parseRoute(hash).place).toBe("start");
  });

  it.each(["a", "a/b", "50%", "what? & why #1", "Übung"])(
    "brings back a task of the name %j with its query",
    (task) => {
      const route = { place: "task", task, tab: "steps", query: { step: "main/each[a/b?]@1.1", at: "7" } } as const;
      expect(parseRoute(formatRoute(route))).toEqual(route);
    },
  );

  it("leaves out what is empty", () => {
    expect(formatRoute({ place: "tasks", query: { status: "", q: "x" } })).toBe("#/tasks?q=x");
  });
});
