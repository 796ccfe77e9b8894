import type { CheckpointMetrics, Distribution } from "../../src/runtime/contract.js";
import {
  formatCost,
  formatCount,
  formatDuration,
  formatNumber,
  formatShare,
  formatSize,
  formatTokens,
} from "../model/figures.js";

/** What a task or all of them used: calls and money, storage, and what checkpoints and recovery took. */
export function Figures({ of }: { readonly of: CheckpointMetrics }) {
  const { spent, storage_usage: storage, recovery_success_rate: recovery, checkpoint_frequency: frequency } = of;
  const { total } = spent;
  const { total: bytes, ...kinds } = storage;
  return (
    <>
      <dl class="tiles">
        <Tile
          name="Cost"
          value={formatCost(total)}
          more={total.unpriced_calls > 0 ? `${formatCount(total.unpriced_calls, "call")} without a price` : ""}
        />
        <Tile name="Model calls" value={formatNumber(total.calls)} more={`${formatTokens(total)} tokens`} />
        <Tile name="Storage" value={formatSize(bytes)} more={`${formatSize(kinds.journal)} journal`} />
        <Tile
          name="Checkpoints"
          value={formatNumber(frequency.checkpoints)}
          more={formatCount(frequency.files, "file")}
        />
        <Tile
          name="Recoveries"
          value={recovery.rate === null ? "none" : formatShare(recovery.rate)}
          more={recovery.rate === null ? "nothing crashed" : `${recovery.succeeded} of ${recovery.attempts}`}
        />
      </dl>
      <table>
        <caption>Measured</caption>
        <thead>
          <tr>
            <th>what</th>
            <th class="number">count</th>
            <th class="number">half within</th>
            <th class="number">95 % within</th>
            <th class="number">most</th>
          </tr>
        </thead>
        <tbody>
          <Measured name="a checkpoint is written" of={of.checkpoint_write_duration} />
          <Measured name="size of a checkpoint" of={of.checkpoint_size} />
          <Measured name="a model answers" of={spent.call_duration} />
        </tbody>
      </table>
      <Shares of={Object.entries(kinds)} />
      {spent.by_day.length > 0 && (
        <table>
          <caption>By day</caption>
          <thead>
            <tr>
              <th>day</th>
              <th class="number">calls</th>
              <th class="number">tokens</th>
              <th class="number">cost</th>
            </tr>
          </thead>
          <tbody>
            {spent.by_day.map((day) => (
              <tr key={day.day}>
                <td>{day.day}</td>
                <td class="number">{formatNumber(day.calls)}</td>
                <td class="number">{formatTokens(day)}</td>
                <td class="number">{formatCost(day)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

export function Tile({ name, value, more }: { readonly name: string; readonly value: string; readonly more?: string }) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>
        {value}
        {more !== undefined && more !== "" && <span class="muted">{more}</span>}
      </dd>
    </div>
  );
}

function Measured({ name, of }: { readonly name: string; readonly of: Distribution }) {
  if (of.count === 0) return null;
  const format = (value: number): string => (of.unit === "ms" ? formatDuration(value / 1000) : formatSize(value));
  return (
    <tr>
      <td>{name}</td>
      <td class="number">{formatNumber(of.count)}</td>
      <td class="number">{format(of.p50)}</td>
      <td class="number">{format(of.p95)}</td>
      <td class="number">{format(of.max)}</td>
    </tr>
  );
}

/** Storage by kind as bars. */
function Shares({ of }: { readonly of: readonly (readonly [name: string, bytes: number])[] }) {
  const most = Math.max(1, ...of.map(([, bytes]) => bytes));
  return (
    <table>
      <caption>Storage by kind</caption>
      <tbody>
        {of.map(([name, bytes]) => (
          <tr key={name}>
            <td>{name}</td>
            <td class="bar-cell">
              <span class="bar" style={{ width: `${(100 * bytes) / most}%` }} />
            </td>
            <td class="number">{formatSize(bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
