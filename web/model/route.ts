/**
 * Where the page stands, as its address says: every filter, selection and zoom is in the fragment, so that a link, a
 * reload and the back key bring the same picture.
 *
 * Shape: `#/tasks?status=failed`, `#/task/NAME/graph?step=IDENTITY`. What is not understood is the start.
 */
export const TABS = [
  "overview",
  "graph",
  "timeline",
  "steps",
  "decisions",
  "checkpoints",
  "events",
  "metrics",
] as const;
export type Tab = (typeof TABS)[number];

export interface Route {
  /** `start`: the page chooses by what needs a person. */
  readonly place: "start" | "tasks" | "inbox" | "health" | "task";
  readonly task?: string;
  readonly tab: Tab;
  readonly query: Readonly<Record<string, string>>;
}

export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#/, "").split("?", 2);
  const query = Object.fromEntries(new URLSearchParams(search));
  const [, place, task, tab] = path.split("/").map(decodePart);
  if (place === "task" && task) return { place, task, tab: TABS.find((name) => name === tab) ?? "overview", query };
  if (place === "tasks" || place === "inbox" || place === "health") return { place, tab: "overview", query };
  return { place: "start", tab: "overview", query };
}

export function formatRoute({ place, task, tab, query }: Partial<Route>): string {
  const path =
    place === "task"
      ? `/task/${encodeURIComponent(task ?? "")}${tab === undefined || tab === "overview" ? "" : `/${tab}`}`
      : `/${place === "start" || place === undefined ? "" : place}`;
  const search = new URLSearchParams(Object.entries(query ?? {}).filter(([, value]) => value !== "")).toString();
  return `#${path}${search === "" ? "" : `?${search}`}`;
}

/** An address that was typed by hand may hold a stray `%`. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
