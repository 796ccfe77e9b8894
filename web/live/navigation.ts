/** The address as a signal, and the ways to change it. */
import { computed, signal } from "@preact/signals";
import { formatRoute, parseRoute, type Route } from "../model/route.js";

const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

export const route = computed(() => parseRoute(hash.value));

export function goTo(to: Partial<Route>): void {
  location.hash = formatRoute(to);
}

/** Changes parts of the query in place: a filter is no step of the history. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const { query, ...rest } = route.value;
  history.replaceState(null, "", formatRoute({ ...rest, query: { ...query, ...changes } }));
  hash.value = location.hash;
}

/** The same place with other parts of the query. */
export function withQuery(changes: Readonly<Record<string, string>>): string {
  const { query, ...rest } = route.value;
  return formatRoute({ ...rest, query: { ...query, ...changes } });
}
