/** `answer` and the requests `checkpoint`, `pause`, `stop`: from any process to the owner of a task. */
import { writeCommand } from "../../base/command-text.js";
import { SplashdownError } from "../../base/errors.js";
import { openQuestions } from "../../engine/rules/questions/questions.js";
import type { QuestionEntry, TaskState } from "../../engine/model/state.js";
import { describeOwner } from "../../recovery/liveness.js";
import type { TaskStore } from "../../store/contract/contract.js";
import type { AnswerOptions, AnswerView, RequestView } from "../views/verb-views.js";
import { leaveRequest, loadAnswer, type ControlDeps } from "../mailbox/control.js";
import { listMessages, removeMessage } from "../mailbox/control-folder.js";
import { chooseGoingOn } from "../views/program-functions.js";
import { findTask } from "../tasks/finding.js";
import { submitAnswer } from "../tasks/submit-answer.js";
import { openTask, readState } from "../tasks/reading.js";
import type { Services } from "../services/services.js";
import { viewQuestion } from "../views/views.js";

/**
 * Answers a question of a task, running or not; the first answer wins.
 *
 * Errors: TASK_NOT_FOUND, QUESTION_NOT_FOUND, QUESTION_CLOSED (who and when), ANSWER_INVALID.
 */
export async function answerQuestion(services: Services, options: AnswerOptions): Promise<AnswerView> {
  const task = await findTask(services, options.task, "act");
  try {
    const { folded, ...opened } = await services.audit.watch({ task, verb: "answer" }, readState(services, task));
    const control: ControlDeps = { ...services, ...opened };
    const { question: named, ...said } = readWords(options, folded.state);
    const question = await selectQuestion(control, folded.state, named);
    const given = { ...said, by: options.by ?? services.environment.user };
    const { answer, question: standing } = await submitAnswer(control, question, given);
    const isOpen = standing.status === "open";
    const { state } = await task.ownerState();
    return {
      task: task.name,
      question: answer.question,
      answer: answer.answer,
      by: answer.by,
      at: answer.at,
      owner_alive: state === "alive",
      ...(isOpen ? { question_open: viewQuestion(task.name, standing, folded.state.task) } : {}),
      ...(state === "alive" || isOpen
        ? {}
        : { command: chooseGoingOn(folded.state.task, writeCommand("resume", [task.name])) }),
    };
  } finally {
    await task.close();
  }
}

/** Two words are a question and its answer; or, of the only open question, a choice and the text that goes with it. */
function readWords({ question, answer, value, more }: AnswerOptions, state: TaskState) {
  const given = { ...(value === undefined ? {} : { value }), ...(more === undefined ? {} : { more }) };
  const [only, second] = openQuestions(state);
  const isChoice = only?.options.some((option) => option.value === question && option.promptFor !== undefined);
  return question !== undefined && more === undefined && second === undefined && isChoice === true
    ? { ...given, answer: question, more: answer }
    : { ...given, answer, ...(question === undefined ? {} : { question }) };
}

async function selectQuestion(control: ControlDeps, state: TaskState, id: string | undefined): Promise<QuestionEntry> {
  const task = control.task.name;
  const questions = [...state.questions.values()];
  const open = questions.filter((question) => question.status === "open");
  if (id === undefined) {
    const [only, second] = open;
    if (only === undefined)
      throw new SplashdownError("QUESTION_NOT_FOUND", `task ${task} has no open question`, { details: { task } });
    if (second === undefined) return only;
    const ids = open.map((question) => question.id);
    throw new SplashdownError(
      "USAGE_INVALID",
      `task ${task} has ${open.length} open questions, name one: ${ids.join(", ")}`,
      { details: { task, questions: ids } },
    );
  }
  const isNamed = (question: QuestionEntry): boolean => {
    const step = question.step === undefined ? undefined : state.steps.get(question.step);
    return [question.id, step?.id, step?.path, step?.name].includes(id);
  };
  const matching = questions.filter(isNamed);
  const several = matching.filter((question) => question.status === "open");
  if (several.length > 1)
    throw new SplashdownError(
      "USAGE_INVALID",
      `${id} names ${several.length} open questions: ${several.map((question) => question.id).join(", ")}`,
      { details: { task } },
    );
  const named = matching.find((question) => question.status === "open") ?? matching.at(-1);
  if (named === undefined)
    throw new SplashdownError("QUESTION_NOT_FOUND", `task ${task} has no question ${id}`, {
      details: { task, question: id },
    });
  if (named.status === "open") return named;
  const answer = await loadAnswer(control, named);
  const who =
    answer === undefined ? (named.answeredBy ?? "somebody") : `${answer.by} at ${answer.at} with ${answer.answer}`;
  throw new SplashdownError("QUESTION_CLOSED", `question ${named.id} was answered by ${who}`, {
    details: { task, question: named.id },
  });
}

const POLL_MS = 100;
const TAKEN_WITHIN_MS = 15_000;
/** Now and then it is asked whether the owner lives. */
const LOOKS_PER_OWNER = 10;

/**
 * Asks the owner of a running task; returns when it has taken the request.
 *
 * Errors: TASK_NOT_RUNNING when nobody owns the task, or the owner does not take it.
 */
export async function requestOfTask(
  services: Services,
  name: string,
  request: { readonly kind: RequestView["request"]; readonly note?: string; readonly by?: string },
): Promise<RequestView> {
  const task = await findTask(services, name, "act");
  try {
    const { state, owner } = await task.ownerState();
    if (state !== "alive") throw notRunning(task, "nobody runs it");
    const opened = await services.audit.watch({ task, verb: request.kind }, openTask(services, task));
    const control: ControlDeps = { ...services, ...opened };
    const note = request.note === undefined ? {} : { note: request.note };
    const { about, id } = await leaveRequest(control, {
      kind: request.kind,
      by: request.by ?? services.environment.user,
      ...note,
    });
    await requireTaken(services, task, about);
    const view: RequestView = { task: task.name, request: request.kind, owner: owner ?? {} };
    if (request.kind !== "checkpoint") return view;
    const checkpoint = await findRequested(services, task, id);
    return checkpoint === undefined ? view : { ...view, checkpoint_id: checkpoint };
  } finally {
    await task.close();
  }
}

/** Waits until the owner has taken a request, or it turns out that it will not. */
export async function awaitTaken(
  { clock }: Pick<Services, "clock">,
  task: TaskStore,
  about: string,
): Promise<"taken" | "late" | "ownerless"> {
  const endMs = clock.monotonicMs() + TAKEN_WITHIN_MS;
  for (let look = 1; (await listMessages(task, about)).length > 0; look += 1) {
    if (clock.monotonicMs() > endMs) return "late";
    if (look % LOOKS_PER_OWNER === 0 && (await hasEnded(task))) return "ownerless";
    await clock.sleep(POLL_MS);
  }
  return "taken";
}

async function requireTaken(services: Services, task: TaskStore, about: string): Promise<void> {
  const outcome = await awaitTaken(services, task, about);
  if (outcome === "taken") return;
  await removeMessage(task, about);
  if (outcome === "ownerless") throw notRunning(task, "its owner ended before it took the request");
  const { owner } = await task.ownerState();
  throw notRunning(task, `${describeOwner(owner)} did not take the request within ${TAKEN_WITHIN_MS / 1000} s`);
}

async function hasEnded(task: TaskStore): Promise<boolean> {
  const { state } = await task.ownerState();
  return state === "gone" || state === "none";
}

function notRunning(task: TaskStore, why: string): SplashdownError {
  return new SplashdownError("TASK_NOT_RUNNING", `task ${task.name} cannot be asked: ${why}`, {
    details: { task: task.name },
  });
}

/** The checkpoint of a request; its file is recorded soon after the request was taken. */
async function findRequested(services: Services, task: TaskStore, id: string): Promise<string | undefined> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const { folded } = await readState(services, task);
    const requested = folded.state.checkpoints.findLast(({ request }) => request === id);
    if (requested?.snapshot !== undefined) return requested.checkpointId;
    await services.clock.sleep(POLL_MS);
  }
  return undefined;
}
