import type { ComponentChildren } from "preact";
import { ApiError } from "../live/api.js";
import { Command } from "./command.js";
import { Text } from "./text.js";

/** What went wrong, its code, and what to do. */
export function Failure({ of }: { readonly of: Error }) {
  const { code, hint } = of instanceof ApiError ? of : { code: of.name, hint: undefined };
  return (
    <div class="notice bad" role="alert">
      <p>
        <Text of={of.message} /> <code class="muted">{code}</code>
      </p>
      {hint !== undefined && (hint.startsWith("splashdown ") ? <Command of={hint} /> : <Text of={hint} />)}
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <p class="muted loading" role="status">
      reading…
    </p>
  );
}
