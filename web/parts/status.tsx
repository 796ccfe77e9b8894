import { lookOf } from "../model/status.js";

/** A status with its shape and its word. */
export function Status({ of, small }: { readonly of: string; readonly small?: boolean }) {
  const { word, shape, tone } = lookOf(of);
  return (
    <span class={`status tone-${tone}${small === true ? " small" : ""}`}>
      <span class="shape" aria-hidden="true">
        {shape}
      </span>
      {word}
    </span>
  );
}
