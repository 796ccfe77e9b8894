/** Exit statuses and error codes, from their tables. */
import { ERROR_TABLE, EXIT_STATUS } from "../../base/error-table.js";
import type { CodeEntry, StatusEntry } from "./entry.js";

const STATUS_TEXT: Readonly<Record<keyof typeof EXIT_STATUS, string>> = {
  done: "done",
  unexpected: "a mistake of Splashdown's own, or (diff-checkpoints) there is a difference",
  usage: "a flag, an argument, a file or a setting is not valid",
  partial: "finished, but partial or below the wanted confidence",
  failed: "failed",
  notFound: "no such file, task, checkpoint or question",
  owned: "a living process owns the task",
  key: "a key is missing or wrong",
  damaged: "damaged, or of a form that is not supported",
  exhausted: "a step crashed its process too often and is parked",
  tampered: "tampered with, rolled back, or a copy of a task that lives elsewhere",
  personNeeded: "a person is needed: a question, or paused by request",
  limit: "a limit is reached",
  unknown: "a step may or may not have acted, and a person has to say",
  pausedUntil: "paused until a time; running again then continues",
  hangup: "ended by a hang-up, everything saved",
  interrupted: "ended by Ctrl+C, everything saved",
  terminated: "ended by a stop signal, everything saved",
};

/** Shape: sorted by code. */
export function listCodes(): CodeEntry[] {
  return Object.entries(ERROR_TABLE)
    .map(([name, { meaning, exitStatus, hint, retryable }]) => ({
      kind: "error" as const,
      name,
      text: meaning,
      exit_status: exitStatus,
      remedy: nameDetails(hint),
      retryable,
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** `splashdown show {task}` → `splashdown show TASK`; how much room is free is told by the error itself. */
function nameDetails(hint: string): string {
  return hint.replace(" {room?}", "").replaceAll(/\{(\w+)\??\}/g, (_detail, name: string) => name.toUpperCase());
}

export function listStatuses(): StatusEntry[] {
  const codes = listCodes();
  return Object.entries(EXIT_STATUS).map(([name, status]) => ({
    kind: "status",
    name: String(status),
    text: STATUS_TEXT[name as keyof typeof EXIT_STATUS],
    codes: codes.filter(({ exit_status }) => exit_status === status).map((code) => code.name),
  }));
}
