/** The keyboard: everything that a mouse does. Keys typed into a field are the field's. */
import { signal } from "@preact/signals";
import { TABS } from "../model/route.js";
import { goTo, route, setQuery } from "./navigation.js";

export interface ListKeys {
  readonly move: (by: number) => void;
  readonly open: () => void;
}

export const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["j  k  ↓  ↑", "next and previous row"],
  ["Enter", "open the row"],
  ["/", "search"],
  ["[  ]", "previous and next view of a task"],
  ["g t", "tasks"],
  ["g i", "inbox"],
  ["g h", "health"],
  ["f", "only what failed, and all again"],
  ["Esc", "close"],
  ["?", "these keys"],
];

export const isHelpOpen = signal(false);

const lists: ListKeys[] = [];

/** The list that came last is the one that moves. */
export function onListKey(keys: ListKeys): () => void {
  lists.push(keys);
  return () => lists.splice(lists.indexOf(keys), 1);
}

const GO: Readonly<Record<string, "tasks" | "inbox" | "health">> = { t: "tasks", i: "inbox", h: "health" };
let isGoing = false;

const ACTIONS: Readonly<Record<string, () => void>> = {
  j: () => lists.at(-1)?.move(1),
  k: () => lists.at(-1)?.move(-1),
  ArrowDown: () => lists.at(-1)?.move(1),
  ArrowUp: () => lists.at(-1)?.move(-1),
  PageDown: () => lists.at(-1)?.move(20),
  PageUp: () => lists.at(-1)?.move(-20),
  Enter: () => lists.at(-1)?.open(),
  "/": () => document.querySelector<HTMLElement>("[data-search]")?.focus(),
  "[": () => turnTab(-1),
  "]": () => turnTab(1),
  f: () => setQuery({ status: route.value.query["status"] === "failed" ? "" : "failed" }),
  "?": () => (isHelpOpen.value = !isHelpOpen.value),
  Escape: () => leave(),
};

export function listenToKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target instanceof HTMLElement ? event.target : undefined;
    if (isField(target)) {
      if (event.key === "Escape") target?.blur();
    } else if (event.key !== "Enter" || !isPressable(event.target)) take(event);
  });
}

function take(event: KeyboardEvent): void {
  const place = isGoing && Object.hasOwn(GO, event.key) ? GO[event.key] : undefined;
  isGoing = event.key === "g";
  if (place !== undefined) {
    goTo({ place });
    return;
  }
  const action = Object.hasOwn(ACTIONS, event.key) ? ACTIONS[event.key] : undefined;
  if (action === undefined) return;
  event.preventDefault();
  action();
}

/** Enter is its own key there. */
function isPressable(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a,button,summary,[role=button]") !== null;
}

function isField(target: HTMLElement | undefined): boolean {
  return target?.closest("input:not([type=range]):not([type=radio]):not([type=checkbox]),textarea,select") != null;
}

function turnTab(by: number): void {
  const { place, task, tab } = route.value;
  if (place !== "task" || task === undefined) return;
  goTo({ place, task, tab: TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length] ?? tab });
}

function leave(): void {
  if (isHelpOpen.value) isHelpOpen.value = false;
  else if (route.value.query["step"] !== undefined) setQuery({ step: "" });
}
