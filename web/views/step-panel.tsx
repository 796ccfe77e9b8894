import type { AttemptView, CallView, StepDetailView, TurnView, UsageView } from "../../src/runtime/contract.js";
import type { ComponentChildren } from "preact";
import { taskPath } from "../live/api.js";
import { setQuery, withQuery } from "../live/navigation.js";
import { useResource } from "../live/resource.js";
import { now } from "../live/state.js";
import { formatCommand } from "../model/commands.js";
import {
  formatClock,
  formatCount,
  formatDuration,
  formatMoney,
  formatNumber,
  formatShare,
  formatSize,
} from "../model/figures.js";
import { showText } from "../model/visible.js";
import { Command } from "../parts/command.js";
import { Failure, Loading } from "../parts/notice.js";
import { Status } from "../parts/status.js";
import { Text } from "../parts/text.js";
import { Value } from "../parts/value.js";

interface PanelProps {
  readonly task: string;
  readonly step: string;
  readonly version: number;
}

/** One step: what it was given, did and brought, with every attempt. */
export function StepPanel({ task, step, version }: PanelProps) {
  const { value, error, isLoading } = useResource<StepDetailView>(
    taskPath(task, `/steps/${encodeURIComponent(step)}`),
    version,
  );
  return (
    <aside class="step-panel" aria-label={`step ${step}`}>
      <div class="head">
        <h2>{showText(value?.path ?? step)}</h2>
        <button type="button" class="quiet" aria-label="close the step" onClick={() => setQuery({ step: "" })}>
          ✕
        </button>
      </div>
      {isLoading && <Loading />}
      {error !== undefined && <Failure of={error} />}
      {value !== undefined && <Detail step={value} />}
    </aside>
  );
}

function Detail({ step }: { readonly step: StepDetailView }) {
  const { reason, visits } = step;
  return (
    <>
      <Facts of={step} />
      {reason !== undefined && <Text of={reason} />}
      <Problem of={step} />
      <Part title="Brought">{step.output === undefined ? null : <Value of={step.output} />}</Part>
      <Part title="Given">
        <Value of={step.work} />
      </Part>
      <Part title={step.attempts.length > 1 ? `${step.attempts.length} attempts` : ""}>
        {step.attempts.length > 1 && step.attempts.map((attempt) => <Attempt key={attempt.attempt} of={attempt} />)}
      </Part>
      <Part title={step.turns.length > 0 ? formatCount(step.turns.length, "turn") : ""}>
        {step.turns.map((turn) => (
          <Turn key={turn.turn} of={turn} />
        ))}
      </Part>
      <Part title={step.calls.length > 0 ? formatCount(step.calls.length, "tool call") : ""}>
        {step.calls.map((call) => (
          <Call key={call.call} of={call} />
        ))}
      </Part>
      <Part title={step.substeps.length > 0 ? "Parts of it" : ""}>
        {step.substeps.map(({ name, status: state, output, error: fault }) => (
          <details key={name}>
            <summary>
              <Status of={state} small /> {showText(name)}
            </summary>
            {fault === undefined ? <Value of={output} /> : <Text of={fault} />}
          </details>
        ))}
      </Part>
      <Part title={step.said.length > 0 ? "Said" : ""}>
        {step.said.map(({ at, text }) => (
          <p key={at + text}>
            <span class="muted">{formatClock(at, now.value)}</span> <Text of={text} />
          </p>
        ))}
      </Part>
      <Part title={step.files.length > 0 ? "Files" : ""}>
        {step.files.map(({ file, size }) => (
          <p key={file}>
            <code>{showText(file)}</code> <span class="muted">{formatSize(size)}</span>
          </p>
        ))}
      </Part>
      <Part title={visits.length > 0 ? "Other visits" : ""}>
        {visits.map((visit) => (
          <p key={visit}>
            <a href={withQuery({ step: visit })}>{showText(visit)}</a>
          </p>
        ))}
      </Part>
      <Command of={formatCommand("show", step.task, step.step)} />
    </>
  );
}

function Facts({ of }: { readonly of: StepDetailView }) {
  const { status, kind, duration, confidence, effects, started_at, usage } = of;
  return (
    <p class="facts">
      <Status of={status} />
      <span>{kind}</span>
      {duration !== undefined && <span>{formatDuration(duration)}</span>}
      <span>began {formatClock(started_at, now.value)}</span>
      {confidence !== undefined && <span>confidence {formatShare(confidence)}</span>}
      <span title="what a second run would do outside">effects {effects}</span>
      {usage !== undefined && <span>{tellUsage(usage)}</span>}
    </p>
  );
}

function Problem({ of: { error } }: { readonly of: StepDetailView }) {
  if (error === undefined) return null;
  return (
    <div class="notice bad">
      <Text of={error.message} /> <code class="muted">{error.code}</code>
      {error.stderr !== undefined && (
        <pre class="block">
          <Text of={error.stderr} />
        </pre>
      )}
    </div>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  if (title === "" || children === null) return null;
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Attempt({ of }: { readonly of: AttemptView }) {
  const { attempt, status, duration, error, stderr, then } = of;
  return (
    <details>
      <summary>
        attempt {attempt} <Status of={status} small />
        <span class="muted">
          {duration !== undefined && ` ${formatDuration(duration)}`}
          {then !== undefined && `, ${showText(then)}`}
        </span>
      </summary>
      {error !== undefined && <Text of={error.message} />}
      {stderr !== undefined && stderr !== "" && (
        <pre class="block">
          <Text of={stderr} />
        </pre>
      )}
    </details>
  );
}

function Turn({ of }: { readonly of: TurnView }) {
  const { turn, usage, answered_by, answer } = of;
  return (
    <details>
      <summary>
        turn {turn}
        <span class="muted">
          {usage !== undefined && ` ${tellUsage(usage)}`}
          {answered_by !== undefined && `, answered by ${showText(answered_by)}`}
        </span>
      </summary>
      <Value of={answer} />
    </details>
  );
}

function Call({ of }: { readonly of: CallView }) {
  const { name, duration, input, output } = of;
  return (
    <details>
      <summary>
        {showText(name)}
        <span class="muted">{duration === undefined ? " nothing came back" : ` ${formatDuration(duration)}`}</span>
      </summary>
      <Value of={input} />
      <Value of={output} />
    </details>
  );
}

function tellUsage({ tokens_in, tokens_out, cost_usd }: UsageView): string {
  const cost = cost_usd === null ? "price unknown" : formatMoney(cost_usd);
  return `${formatNumber(tokens_in)} tokens in, ${formatNumber(tokens_out)} out, ${cost}`;
}
