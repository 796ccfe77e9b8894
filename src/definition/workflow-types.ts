/**
 * Types that an editor infers from a workflow that is written in a program: what its functions see, what it gives, and which
 * keys nobody knows.
 *
 * Types alone: nothing here runs. What cannot be told from the text (a template with a filter, an agent's answer without a
 * declared output) is JSON.
 */
import type { JsonObject, JsonValue } from "../base/json.js";

/** Any function; how it is called does not matter here. */
type AnyFunction = (...given: never[]) => unknown;

type KeysOf<Shape> = Shape extends unknown ? keyof Shape : never;
type ValueAt<Shape, Key> = Shape extends unknown ? (Key extends keyof Shape ? Shape[Key] : never) : never;

/** `Given`, with `never` in the place of every key that `Shape` does not have, at any depth. */
export type OnlyKnown<Given, Shape> = unknown extends Shape
  ? Given
  : Given extends AnyFunction
    ? Given
    : Given extends readonly unknown[]
      ? { readonly [At in keyof Given]: OnlyKnown<Given[At], ItemOf<Shape>> }
      : Given extends object
        ? {
            readonly [Key in keyof Given]: Key extends KeysOf<NonNullable<Shape>>
              ? OnlyKnown<Given[Key], ValueAt<NonNullable<Shape>, Key>>
              : never;
          }
        : Given;
type ItemOf<Shape> = Shape extends readonly (infer Item)[] ? Item : never;

/** The value of a declared type. */
type Declared<Type> = Type extends "string"
  ? string
  : Type extends "number" | "integer"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "array"
        ? readonly JsonValue[]
        : Type extends "object"
          ? JsonObject
          : JsonValue;

type OutputField = { readonly type: string };
/** The value of a declared field, as deep as it is declared. */
type FieldValue<Field> = Field extends { readonly enum: readonly (infer Choice)[] }
  ? Choice
  : Field extends { readonly type: "array"; readonly items: infer Item extends OutputField }
    ? readonly FieldValue<Item>[]
    : Field extends { readonly type: "object"; readonly properties: infer Fields }
      ? { readonly [Name in keyof Fields]: FieldValue<Fields[Name]> }
      : Field extends { readonly type: infer Type }
        ? Declared<Type>
        : JsonValue;

/** What `ctx.inputs` holds, from `workflow.input`; an input that may be left out and has no default may be missing. */
export type InputValues<Inputs> = {
  readonly [Name in keyof Inputs as IsOptional<Inputs[Name]> extends true ? never : Name]: FieldValue<Inputs[Name]>;
} & {
  readonly [Name in keyof Inputs as IsOptional<Inputs[Name]> extends true ? Name : never]?: FieldValue<Inputs[Name]>;
};
type IsOptional<Input> = Input extends { readonly default: unknown }
  ? false
  : Input extends { readonly required: false }
    ? true
    : false;

/** What one step gives: what its function returns, or the fields that it declares. */
type StepOutput<Step> = Step extends { readonly function: (...given: never[]) => infer Returned }
  ? Awaited<Returned>
  : Step extends { readonly output: infer Fields }
    ? { readonly [Name in keyof Fields]: FieldValue<Fields[Name]> }
    : JsonValue;

/** Every step that stands in a list of a workflow, of its phases or of its agents; not those in groups. */
type StepsOf<Given> =
  | (Given extends { readonly steps: readonly (infer Step)[] } ? Step : never)
  | (Given extends { readonly agents: readonly (infer Step)[] } ? Step : never)
  | (Given extends { readonly phases: readonly { readonly specialists: readonly (infer Step)[] }[] } ? Step : never);
type NamedStep<Given, Name> = Extract<StepsOf<Given>, { readonly name: Name }>;

/** What a template gives that is one reference; a text around it makes it text. */
type TemplateOutput<Given, Template> = Template extends `{{ ${infer Reference} }}`
  ? ReferenceOutput<Given, Reference>
  : Template extends string
    ? string
    : Template;
type ReferenceOutput<Given, Reference> = Reference extends `${string} ${string}` | `${string}}}${string}`
  ? JsonValue
  : Reference extends `${infer Name}.output.${infer Field}`
    ? FieldOf<NamedOutput<Given, Name>, Field>
    : Reference extends `${infer Name}.output`
      ? NamedOutput<Given, Name>
      : JsonValue;
type NamedOutput<Given, Name> = [NamedStep<Given, Name>] extends [never]
  ? JsonValue
  : StepOutput<NamedStep<Given, Name>>;
type FieldOf<Value, Field> = Field extends keyof Value ? Value[Field] : JsonValue;

/**
 * What a workflow gives: its `output`, by template, or without one what its `steps` give, by name. JSON where that cannot
 * be told: a file, phases, agents without an `output`.
 */
export type OutputOf<Given> = Given extends { readonly output: infer Templates }
  ? Given extends { readonly agents: unknown }
    ? { readonly [Name in keyof Templates]: JsonValue }
    : { readonly [Name in keyof Templates]: TemplateOutput<Given, Templates[Name]> }
  : Given extends { readonly steps: readonly (infer Step)[] }
    ? {
        readonly [
          One in Step as One extends { readonly name: infer Name extends string } ? Name : never
        ]?: StepOutput<One>;
      }
    : JsonValue;
