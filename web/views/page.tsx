import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { isLockedOut } from "../live/api.js";
import { isHelpOpen, KEYS } from "../live/keys.js";
import { route } from "../live/navigation.js";
import { connection, heardAt, now, openCount, session, tasks } from "../live/state.js";
import { formatAgo } from "../model/figures.js";
import { formatRoute } from "../model/route.js";
import { chooseOpening } from "../model/task-list.js";
import { Command } from "../parts/command.js";
import { HealthView } from "./health.js";
import { InboxView } from "./inbox.js";
import { TaskPage } from "./task-page.js";
import { TasksView } from "./tasks.js";

const TITLES = { start: "Splashdown", tasks: "Tasks", inbox: "Inbox", health: "Health", task: "Task" } as const;

/** The frame of every view: where one can go, how the connection is, and the view itself. */
export function Page() {
  useEffect(() => effect(openAtWhatMatters), []);
  useEffect(
    () =>
      effect(() => {
        const { place, task } = route.value;
        const waiting = openCount.value > 0 ? `(${openCount.value}) ` : "";
        document.title = `${waiting}${task ?? TITLES[place]} · Splashdown`;
      }),
    [],
  );
  return (
    <>
      <a class="skip" href="#main" onClick={focusMain}>
        to the content
      </a>
      <Top />
      <Connection />
      <main id="main" tabIndex={-1}>
        {isLockedOut.value ? <LockedOut /> : <View />}
      </main>
      {isHelpOpen.value && <Help />}
    </>
  );
}

function openAtWhatMatters(): void {
  if (route.value.place !== "start" || tasks.value === undefined) return;
  const { place, task } = chooseOpening([...tasks.value.values()]);
  const to = task === undefined ? formatRoute({ place }) : formatRoute({ place: "task", task });
  location.replace(to);
}

function focusMain(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#main")?.focus();
}

function View() {
  const { place, task } = route.value;
  if (place === "inbox") return <InboxView />;
  if (place === "health") return <HealthView />;
  if (place === "task" && task !== undefined) return <TaskPage key={task} task={task} />;
  return <TasksView />;
}

function Top() {
  const { place } = route.value;
  const link = (to: "tasks" | "inbox" | "health", badge = 0) => (
    <a href={formatRoute({ place: to })} aria-current={place === to ? "page" : undefined}>
      {TITLES[to]}
      {badge > 0 && (
        <span class="badge" aria-label={`${badge} open`}>
          {badge}
        </span>
      )}
    </a>
  );
  return (
    <header class="top">
      <a class="brand" href={formatRoute({ place: "tasks" })}>
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path d="M8 1c3 4 5 6 5 8.5A5 5 0 0 1 3 9.500C3 7 5 5 8 1z" fill="currentColor" />
        </svg>
        Splashdown
      </a>
      <nav aria-label="views">
        {link("tasks")}
        {link("inbox", openCount.value)}
        {link("health")}
      </nav>
      <span class="store muted" title="where the tasks are kept">
        {session.value?.store}
        {session.value?.read_only === true && <span class="pill">read only</span>}
      </span>
      <button type="button" class="quiet" onClick={() => (isHelpOpen.value = true)} aria-label="keys">
        ?
      </button>
    </header>
  );
}

/** Said in words, and only when it matters. */
function Connection() {
  if (connection.value !== "lost" || isLockedOut.value) return null;
  return (
    <div class="notice bad connection" role="alert">
      The dashboard's server has not been heard since {formatAgo(heardAt.value, now.value)}. What you see is from then.
      Trying again… If it was ended, start it: <Command of="splashdown dashboard" />
    </div>
  );
}

function LockedOut() {
  return (
    <section class="view">
      <h1>This page has no key to its server</h1>
      <p>The server was started anew, or this address came without its token. Open the address that it prints:</p>
      <Command of="splashdown dashboard --open" />
    </section>
  );
}

function Help() {
  return (
    <div class="veil" onClick={() => (isHelpOpen.value = false)}>
      <section
        class="help"
        role="dialog"
        aria-modal="true"
        aria-label="keys"
        onClick={(event) => event.stopPropagation()}
      >
        <h2>Keys</h2>
        <dl class="keys">
          {KEYS.map(([keys, does]) => (
            <div key={keys}>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <button type="button" ref={(button) => button?.focus()} onClick={() => (isHelpOpen.value = false)}>
          Close
        </button>
      </section>
    </div>
  );
}
