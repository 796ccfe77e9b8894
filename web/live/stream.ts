/**
 * One stream for all tabs: a browser opens six connections to an origin, and a stream for each tab would block the
 * seventh. The tab that holds the lock reads the stream and hands every event on; when it goes, the next one reads.
 *
 * The stream tells of the leader's task in full. Another tab reads its own task again when the list says that it changed.
 */
import { effect } from "@preact/signals";
import type { QuestionsView, TaskSummaryView, TaskView } from "../../src/runtime/contract.js";
import { nextDelay, StreamParser, type StreamEvent } from "../model/stream-parser.js";
import { headers, isLockedOut, read, taskPath } from "./api.js";
import { route } from "./navigation.js";
import {
  heardAt,
  picture,
  questions,
  takeChange,
  takeTasks,
  trouble,
  type TaskPicture,
  type TasksChange,
  type TaskTrouble,
} from "./state.js";

const channel = new BroadcastChannel("splashdown-stream");
/** A task whose picture came with the stream is not read again. */
let streamed = "";

export function startStream(): void {
  channel.addEventListener("message", ({ data }) => take(data as StreamEvent));
  void navigator.locks.request("splashdown-stream", () => lead());
  void readAll();
  effect(() => {
    const { task } = route.value;
    if (task !== undefined && picture.peek()?.task !== task) void readTask(task);
  });
}

/** Never ends: the lock is held as long as the tab is open. */
async function lead(): Promise<never> {
  let stop = new AbortController();
  let watched = route.peek().task;
  effect(() => {
    const { task } = route.value;
    if (task === watched) return;
    watched = task;
    stop.abort();
  });
  let tries = 0;
  for (;;) {
    stop = new AbortController();
    try {
      await readAll();
      await readStream(watched, stop.signal);
      tries = 0;
    } catch {
      if (!stop.signal.aborted) await new Promise((go) => setTimeout(go, nextDelay((tries += 1))));
    }
  }
}

async function readStream(task: string | undefined, signal: AbortSignal): Promise<void> {
  streamed = "";
  const search = task === undefined ? "" : `?task=${encodeURIComponent(task)}`;
  const response = await fetch(`/api/stream${search}`, {
    headers: headers(),
    signal,
    cache: "no-store",
    credentials: "omit",
  });
  isLockedOut.value ||= response.status === 401;
  if (!response.ok || response.body === null) throw new Error("no stream");
  streamed = task ?? "";
  const parser = new StreamParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error("the stream ended");
    for (const event of parser.take(value)) {
      channel.postMessage(event);
      take(event);
    }
  }
}

function take({ event, data }: StreamEvent): void {
  heardAt.value = Date.now();
  if (event === "tasks") takeTasksChange(JSON.parse(data) as TasksChange);
  else if (event === "questions") questions.value = JSON.parse(data) as QuestionsView;
  else if (event === "task") takePicture(JSON.parse(data) as TaskPicture);
  else if (event === "trouble") trouble.value = JSON.parse(data) as TaskTrouble;
}

function takeTasksChange(change: TasksChange): void {
  takeChange(change);
  const { task } = route.peek();
  if (task !== undefined && task !== streamed && change.changed.some((row) => row.task === task)) void readTask(task);
}

function takePicture(next: TaskPicture): void {
  if (next.task !== route.peek().task) return;
  picture.value = next;
  trouble.value = undefined;
}

async function readAll(): Promise<void> {
  const [list, open] = await Promise.all([read<readonly TaskSummaryView[]>("tasks"), read<QuestionsView>("questions")]);
  takeTasks(list);
  questions.value = open;
  heardAt.value = Date.now();
}

/** A task's view, at once; the stream goes on from there. */
async function readTask(task: string): Promise<void> {
  const view = await read<TaskView>(taskPath(task)).catch(() => undefined);
  if (view !== undefined) takePicture({ task, view });
}

/** After something was done here: what changed is seen at once, stream or not. */
export async function refresh(): Promise<void> {
  await readAll().catch(() => undefined);
  const { task } = route.peek();
  if (task !== undefined) await readTask(task);
}
