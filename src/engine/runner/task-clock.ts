/**
 * The clock of one task in one process: it begins at the wall, or at the task's last record where that is later, and goes on
 * by the time that passes, whatever the wall is set to meanwhile.
 *
 * So within a process every remaining time is a span: a wait, a retry, an expiry and a limit are neither cut short nor drawn
 * out by a clock that jumps, and a clock that was ahead once delays nothing, as what was due by it is due by this one. The wall
 * bridges processes only: what leaves this one (when to resume) or comes in (when a provider says to ask again) is translated by
 * `aheadMs`. A machine that sleeps passes time (`elapsedMs` of the port).
 */
import type { Clock } from "../../base/clock.js";
import type { Log } from "../../base/log.js";

export interface TaskClock extends Clock {
  /** This clock less the wall. */
  aheadMs(): number;
}

export interface TaskClockParts {
  readonly clock: Clock;
  /** Time of the task's last record. */
  readonly lastAtMs: number;
  readonly log: Pick<Log, "warn">;
}

/** Corrections of a running clock are smaller. */
const JUMP_MS_MIN = 5_000;

export function createTaskClock({ clock, lastAtMs, log }: TaskClockParts): TaskClock {
  const elapsedMs = (): number => clock.elapsedMs?.() ?? clock.monotonicMs();
  const beganMs = elapsedMs();
  const wallAtMs = clock.nowMs();
  const startMs = Math.max(wallAtMs, lastAtMs);
  let toldMs = startMs - wallAtMs;
  if (toldMs >= JUMP_MS_MIN)
    log.warn(
      `the last record of this task is ${formatSpan(toldMs)} ahead of the clock of this machine; its times continue from there`,
    );
  const taskMs = (): number => startMs + Math.round(elapsedMs() - beganMs);
  const aheadMs = (): number => taskMs() - clock.nowMs();
  const noteJump = (): void => {
    const jumpMs = toldMs - aheadMs();
    if (Math.abs(jumpMs) < JUMP_MS_MIN) return;
    toldMs -= jumpMs;
    const way = jumpMs > 0 ? "ahead" : "back";
    log.warn(
      `the clock of this machine was set ${way} by ${formatSpan(Math.abs(jumpMs))}: waits and limits go by the time that passed`,
    );
  };
  return {
    ...clock,
    // Methods of a class are not spread.
    monotonicMs: () => clock.monotonicMs(),
    sleep: (durationMs, signal) => clock.sleep(durationMs, signal),
    schedule: (durationMs, callback) => clock.schedule(durationMs, callback),
    every: (intervalMs, callback) => clock.every(intervalMs, callback),
    nowMs: () => {
      noteJump();
      return taskMs();
    },
    aheadMs,
  };
}

function formatSpan(durationMs: number): string {
  const seconds = Math.round(durationMs / 1_000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
