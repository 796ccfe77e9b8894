import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { route, setQuery } from "../live/navigation.js";

const PAUSE_MS = 120;

/** Turns the task back to how it stood after any event; at the end it is live again. `of`: number of the last event. */
export function TimeSlider({ of: last }: { readonly of?: number | undefined }) {
  const { at } = route.value.query;
  const wanted = useSignal<string | undefined>(undefined);
  useEffect(() => {
    if (wanted.value === undefined) return undefined;
    const timer = setTimeout(() => {
      setQuery({ at: wanted.peek() ?? "" });
      wanted.value = undefined;
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [wanted.value]);
  if (at === undefined) {
    return (
      <button type="button" class="quiet right" onClick={() => setQuery({ at: String(last ?? 1) })}>
        time slider
      </button>
    );
  }
  const value = Number(wanted.value ?? at);
  const turn = (n: number): void => {
    wanted.value = String(Math.max(1, Math.min(last ?? n, n)));
  };
  return (
    <span class="slider right">
      <button type="button" class="quiet" aria-label="one event back" onClick={() => turn(value - 1)}>
        ‹
      </button>
      <input
        type="range"
        min={1}
        max={last ?? Math.max(2, value)}
        value={value}
        aria-label="event"
        onInput={(event) => turn(event.currentTarget.valueAsNumber)}
      />
      <button type="button" class="quiet" aria-label="one event on" onClick={() => turn(value + 1)}>
        ›
      </button>
      <output>
        event {value}
        {last !== undefined && ` of ${last}`}
      </output>
      <button type="button" class="quiet" onClick={() => setQuery({ at: "" })}>
        back to now
      </button>
    </span>
  );
}
