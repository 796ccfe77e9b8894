import type { TaskView } from "../../src/runtime/contract.js";
import { now } from "../live/state.js";
import {
  formatAgo,
  formatCount,
  formatDuration,
  formatCost,
  formatNumber,
  formatSize,
  formatTokens,
} from "../model/figures.js";
import { listFindings, type Phase } from "../model/story.js";
import { formatRoute } from "../model/route.js";
import { showText } from "../model/visible.js";
import { Command } from "../parts/command.js";
import { Meter } from "../parts/meter.js";
import { Status } from "../parts/status.js";
import { Text } from "../parts/text.js";
import { Value } from "../parts/value.js";
import { Tile } from "./figures.js";
import { QuestionCard } from "./question-card.js";
import { Actions } from "./task-actions.js";
import type { TaskPart } from "./task-page.js";

/** What the task does, what it waits for, what it cost and what came of it; and what a person can do. */
export function OverviewView({ view }: TaskPart) {
  const open = view.questions.filter(({ status }) => status === "open");
  return (
    <div class="overview">
      <Story view={view} />
      {open.map((question) => (
        <QuestionCard key={question.id} task={view.task} question={question} />
      ))}
      <Totals view={view} />
      <Phases of={view.phases as unknown as readonly Phase[]} />
      <Results view={view} />
      <Actions view={view} />
    </div>
  );
}

function Story({ view }: { readonly view: TaskView }) {
  return (
    <section aria-label="what happened">
      <ul class="story">
        {listFindings(view, now.value).map(({ status, text, step }) => (
          <li key={text}>
            <Status of={status} small />
            <span>
              <Text of={text} length={600} />
              {step !== undefined && (
                <>
                  {" "}
                  <a href={formatRoute({ place: "task", task: view.task, query: { step } })}>look into it</a>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
      {view.next !== undefined && (
        <p>
          go on with <Command of={view.next} />
        </p>
      )}
    </section>
  );
}

function Totals({ view }: { readonly view: TaskView }) {
  const { metrics, steps, checkpoints, size, last_event_at } = view;
  const { api_calls: calls, tokens_used: tokens } = metrics;
  const spent = { ...metrics, calls, tokens };
  const failed = steps.filter(({ status }) => status === "failed").length;
  return (
    <dl class="tiles">
      <Tile name="Steps done" value={formatNumber(view.steps_done ?? 0)} more={failed > 0 ? `${failed} failed` : ""} />
      <Tile name="Worked" value={formatDuration(metrics.elapsed_time)} />
      <Tile
        name="Cost"
        value={formatCost(spent)}
        more={metrics.unpriced_calls > 0 ? `${formatCount(metrics.unpriced_calls, "call")} without a price` : ""}
      />
      <Tile name="Tokens" value={formatTokens(spent)} more={formatCount(metrics.api_calls, "model call")} />
      <Tile name="Checkpoints" value={formatNumber(checkpoints)} more={formatSize(size)} />
      {last_event_at !== undefined && (
        <Tile name="Last event" value={formatAgo(Date.parse(last_event_at), now.value)} />
      )}
    </dl>
  );
}

function Phases({ of }: { readonly of: readonly Phase[] }) {
  if (of.length === 0) return null;
  return (
    <section>
      <h2>Phases</h2>
      <ol class="phases">
        {of.map(({ name, number, status, iteration, confidence, spawned }) => (
          <li key={number}>
            <span class="muted">{number}</span>
            <b>{showText(name)}</b>
            <Status of={status} small />
            <Meter of={confidence} />
            <span class="muted">
              {iteration > 1 && `iteration ${iteration} `}
              {spawned > 0 && formatCount(spawned, "specialist added", "specialists added")}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Results({ view }: { readonly view: TaskView }) {
  const { output, deliverables, inputs, guidance } = view;
  return (
    <div class="columns">
      <section>
        <h2>Given</h2>
        <Value of={inputs} />
        {guidance.map(({ text, by, at, taken }) => (
          <p key={at + text}>
            <Text of={text} />{" "}
            <span class="muted">
              said by {showText(by)}, {taken ? "taken" : "not taken yet"}
            </span>
          </p>
        ))}
      </section>
      <section>
        <h2>Brought</h2>
        {output === undefined && deliverables.length === 0 && <p class="muted">nothing yet</p>}
        {output !== undefined && <Value of={output} />}
        {deliverables.length > 0 && (
          <ul class="files">
            {deliverables.map(({ file, size }) => (
              <li key={file}>
                <code>{showText(file)}</code> <span class="muted">{formatSize(size)}</span>
              </li>
            ))}
          </ul>
        )}
        <p class="muted">
          in <code>{showText(view.folder)}</code>
        </p>
      </section>
    </div>
  );
}
