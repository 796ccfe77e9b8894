/** One request. */
import type { Step } from "../../schema/generated/workflow.js";
import type { HttpStep } from "../model/step.js";
import type { TemplateValue } from "../model/values.js";
import { withoutUndefined, type FileKind, type Parts, type Unsigned } from "./kind.js";
import { omitUndefined, textMap } from "./step-fields.js";

export const HTTP: FileKind<HttpStep> = {
  types: ["http"],
  signs: ["url"],
  keys: ["url", "method", "query", "headers", "body", "fail_on_status"],
  effects: "external",
  endedBy: "performer",
  actsAtOnce: true,
  isWork: true,
  build: buildHttp,
  render: (node, render) =>
    withoutUndefined({
      method: node.method,
      url: render.text(node.url),
      query: render.environment(node.query),
      headers: render.environment(node.headers),
      body: render.value(node.body),
    }),
};

/** Requests that only read; what others do is external until the file says otherwise. */
const READING_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

function buildHttp(step: Step, { common, site }: Parts): Unsigned<HttpStep> {
  const { url = "", method = "GET" } = step;
  const isTemplate = url.includes("{{");
  if (!isTemplate && !/^https?:\/\/[^/]/.test(url)) {
    const suggestion = "write url: https://host/path";
    site.context.faults.add({
      code: "wrong_value",
      path: [...site.at, "url"],
      message: `the step ${common.name} needs an address`,
      suggestion,
    });
  }
  return {
    ...common,
    kind: "http",
    effects: step.effects ?? (READING_METHODS.has(method) ? "none" : "external"),
    method,
    url,
    query: textMap(step.query),
    headers: textMap(step.headers),
    ...omitUndefined("body", step.body as TemplateValue | undefined),
    failOnStatus: step.fail_on_status ?? true,
  };
}
