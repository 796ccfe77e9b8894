import { showText } from "../model/visible.js";
import { Text } from "./text.js";

const DEPTH_MAX = 5;
const FIELDS_MAX = 40;

interface ValueProps {
  readonly of: unknown;
  readonly depth?: number;
}

/** A JSON value: texts as texts, objects as their fields, what is large or deep as indented JSON; empty ones in a word. */
export function Value({ of, depth = 0 }: ValueProps) {
  if (of === undefined) return <span class="muted">none</span>;
  if (typeof of === "string") return of === "" ? <span class="muted">empty text</span> : <BlockText of={of} />;
  if (typeof of !== "object" || of === null) return <code>{JSON.stringify(of)}</code>;
  if (Array.isArray(of)) return <List of={of} depth={depth} />;
  const entries = Object.entries(of);
  if (entries.length === 0) return <span class="muted">empty</span>;
  if (depth >= DEPTH_MAX || entries.length > FIELDS_MAX) return <BlockText of={JSON.stringify(of, undefined, 2)} />;
  return (
    <dl class={depth === 0 ? "fields" : "fields inner"}>
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{showText(name)}</dt>
          <dd>
            <Value of={value} depth={depth + 1} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function List({ of, depth }: { readonly of: readonly unknown[]; readonly depth: number }) {
  if (of.length === 0) return <span class="muted">empty list</span>;
  if (of.every((item) => typeof item !== "object" || item === null)) {
    const items = of.map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
    return <BlockText of={items.join(items.some((item) => item.length > 30) ? "\n" : ", ")} />;
  }
  if (depth >= DEPTH_MAX || of.length > 8) return <BlockText of={JSON.stringify(of, undefined, 2)} />;
  return (
    <ol class="items">
      {of.map((item, at) => (
        <li key={at}>
          <Value of={item} depth={depth + 1} />
        </li>
      ))}
    </ol>
  );
}

function BlockText({ of }: { readonly of: string }) {
  const isShort = of.length < 100 && !of.includes("\n");
  return isShort ? (
    <Text of={of} mono />
  ) : (
    <pre class="block" tabIndex={0}>
      <Text of={of} />
    </pre>
  );
}
