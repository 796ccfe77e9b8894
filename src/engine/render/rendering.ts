/** Renders what a step of each kind is to do: values keep their type, texts are texts whatever a template gave. */
import { unreachable } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { isToolServer } from "../../definition/model/tool-definition.js";
import { markSecrets } from "../../definition/templates/secret-marks.js";
import { createValueFailure, type TemplateScope } from "../../definition/templates/templates.js";
import type {
  GateStep,
  QuestionsStep,
  ScorerStep,
  SetStep,
  StepDefinition,
  TerminateStep,
  WizardItem,
} from "../../definition/model/step.js";
import { readItems } from "../model/wizard-items.js";
import type { Choice } from "../model/choice.js";
import { parseDurationMs } from "../../definition/model/duration.js";

/** Renders the parts of one step: values keep their type, texts are texts whatever a template gave. */
interface Renderer {
  readonly value: (value: JsonValue | undefined) => JsonValue | undefined;
  /** What a set step reads its value from: texts, but for what reading the text would give anyway or damage. */
  readonly setValue: (value: JsonValue | undefined, outputType: SetStep["outputType"]) => JsonValue | undefined;
  readonly text: (template: string | undefined) => string | undefined;
  readonly texts: (templates: readonly string[]) => readonly string[];
  readonly environment: (templates: Readonly<Record<string, string>>) => JsonObject;
  /** Texts that are no templates, as Conductor has them, but for the secrets that they name. */
  readonly marked: (texts: Readonly<Record<string, string>>) => JsonObject;
  /** Units: milliseconds. Errors: TEMPLATE_FAILED when it is none. */
  readonly duration: (template: JsonValue) => number;
  /** The items that a step before gave for a wizard. Errors: TEMPLATE_FAILED. */
  readonly items: (source: string) => readonly WizardItem[];
}

function createRenderer(choice: Choice, scope: TemplateScope): Renderer {
  const { templates } = choice.context;
  const text = (template: string) => templates.renderText(template, scope);
  const secrets = typeof scope === "function" ? scope("secrets") : scope["secrets"];
  return {
    duration: (template) => renderDuration(templates.renderValue(template, scope), template, scope),
    items: (source) => {
      const template = `{{ ${source} }}`;
      const refuse = (message: string) => createValueFailure(template, scope, { message });
      return readItems(templates.renderValue(template, scope), { source, refuse });
    },
    setValue: (value, outputType) =>
      value === undefined ? undefined : renderSetValue(value, { templates, scope, outputType }),
    value: (value) => (value === undefined ? undefined : templates.renderValue(value, scope)),
    text: (template) => (template === undefined ? undefined : text(template)),
    texts: (list) => list.map(text),
    marked: (list) => Object.fromEntries(Object.entries(list).map(([name, own]) => [name, markSecrets(own, secrets)])),
    environment: (list) => Object.fromEntries(Object.entries(list).map(([name, template]) => [name, text(template)])),
  };
}

interface Rendering {
  readonly templates: Choice["context"]["templates"];
  readonly scope: TemplateScope;
  readonly outputType: SetStep["outputType"];
}

/** A list or a map of one whole expression stays what it is; so do numbers and booleans where the type is read off. */
export function renderSetValue(value: JsonValue, rendering: Rendering): JsonValue {
  const { templates, scope, outputType } = rendering;
  if (isJsonObject(value)) {
    const entries = Object.entries(value).map(([name, item]) => [name, renderSetValue(item ?? null, rendering)]);
    return Object.fromEntries(entries) as JsonObject;
  }
  if (typeof value !== "string") return templates.renderValue(value, scope);
  const native = templates.renderValue(value, scope);
  const isScalar = typeof native === "number" || typeof native === "boolean";
  if ((typeof native === "object" && native !== null) || (isScalar && outputType === "auto")) return native;
  return templates.renderText(value, scope);
}

function renderDuration(value: JsonValue, template: JsonValue, scope: TemplateScope): number {
  const durationMs = parseDurationMs(value);
  if (durationMs !== undefined) return durationMs;
  const message = `not a duration: ${JSON.stringify(value).slice(0, 100)}`;
  throw createValueFailure(typeof template === "string" ? template : "", scope, { message });
}

/** What a performer needs of a step of its kind. Errors: TEMPLATE_FAILED. */
export function renderKind(choice: Choice, node: StepDefinition, scope: TemplateScope): JsonObject {
  const render = createRenderer(choice, scope);
  switch (node.kind) {
    case "command":
      return withoutUndefined({
        command: render.texts(node.command),
        environment: render.environment(node.environment),
        folder: render.text(node.folder),
      });
    case "script":
      return withoutUndefined({
        command: render.texts(node.command),
        environment: render.marked(node.environment),
        folder: render.text(node.folder),
        stdin: render.text(node.stdin),
      });
    case "function":
      return { function: node.function };
    case "model":
      return withoutUndefined({
        provider: node.provider,
        model: render.text(node.model),
        system_prompt: render.text(node.systemPrompt),
        prompt: putBefore(node.instructions, render.text(node.prompt)),
        tools: node.tools?.map((tool) => (isToolServer(tool) ? `${tool.server}__*` : tool.name)),
      });
    case "cli":
      return withoutUndefined({
        cli: node.cli,
        model: render.text(node.model),
        system_prompt: render.text(node.systemPrompt),
        prompt: putBefore(node.instructions, render.text(node.prompt)),
        arguments: render.texts(node.arguments),
        environment: render.environment(node.environment),
        folder: render.text(node.folder),
      });
    case "set":
      return withoutUndefined({
        value: render.setValue(node.value, node.outputType),
        values: render.setValue(node.values, "auto"),
      });
    case "wait":
      return withoutUndefined({
        duration_ms: render.duration(node.duration),
        reason: render.text(node.reason),
      });
    case "http":
      return withoutUndefined({
        method: node.method,
        url: render.text(node.url),
        query: render.environment(node.query),
        headers: render.environment(node.headers),
        body: render.value(node.body),
      });
    case "mcp":
      return { server: node.server.server, tool: node.tool };
    case "scorer":
      return renderScorer(node, render);
    default:
      return renderOwnWay(node, render);
  }
}

/** Instructions are no templates: they stand before the prompt as they are. */
function putBefore(instructions: string | undefined, prompt: string | undefined): string | undefined {
  return instructions === undefined ? prompt : `${instructions}\n\n${prompt ?? ""}`;
}

/** Steps that nobody performs: what is asked, or how the workflow ends. */
function renderOwnWay(node: GateStep | QuestionsStep | TerminateStep, render: Renderer): JsonObject {
  if (node.kind === "human_gate")
    return withoutUndefined({
      prompt: render.text(node.prompt),
      labels: render.texts(node.options.map(({ label }) => label)),
    });
  if (node.kind === "questions")
    return withoutUndefined({ prompt: render.text(node.prompt), items: renderItems(node, render) });
  return withoutUndefined({ reason: render.text(node.reason), output: render.value(node.outputTemplate) });
}

/** Questions of the file are templates; those that a step before gave are shown as they are. */
function renderItems(node: QuestionsStep, render: Renderer): JsonValue {
  if (node.source !== undefined) return render.items(node.source) as unknown as JsonValue;
  return node.items.map((item) =>
    withoutUndefined({
      ...(item as unknown as JsonObject),
      text: render.text(item.text),
      hint: render.text(item.hint),
      choices: render.texts(item.choices),
      default: render.value(item.default),
    }),
  );
}

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

function withoutUndefined(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
