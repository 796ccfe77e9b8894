/** Renders what a step of each kind is to do: values keep their type, texts are texts whatever a template gave. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { Renderer } from "../../definition/kinds/kind.js";
import { kindOf } from "../../definition/kinds/table.js";
import { markSecrets } from "../../definition/templates/secret-marks.js";
import { createValueFailure, type TemplateScope } from "../../definition/templates/templates.js";
import type { SetStep, StepDefinition } from "../../definition/model/step.js";
import { readItems } from "../model/wizard-items.js";
import type { Choice } from "../model/choice.js";

function createRenderer(choice: Choice, scope: TemplateScope): Renderer {
  const { templates } = choice.context;
  const text = (template: string) => templates.renderText(template, scope);
  const secrets = typeof scope === "function" ? scope("secrets") : scope["secrets"];
  return {
    read: (template, { parse, what }) => {
      const value = templates.renderValue(template, scope);
      const read = parse(value);
      if (read !== undefined) return read;
      const message = `not ${what}: ${JSON.stringify(value).slice(0, 100)}`;
      throw createValueFailure(typeof template === "string" ? template : "", scope, { message });
    },
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

/** What a performer needs of a step of its kind. Errors: TEMPLATE_FAILED. */
export function renderKind(choice: Choice, node: StepDefinition, scope: TemplateScope): JsonObject {
  return kindOf(node.kind).render(node, createRenderer(choice, scope));
}
