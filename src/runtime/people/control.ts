/**
 * Control of a task from outside: the answers and requests that other processes leave, and the owner's inbox.
 *
 * K1: an answer is the exclusive creation of `control/answer-<hash of the question>`, with `-<number>` for a move of a
 *     wizard; the creator wins, everybody else reads who answered and when. K2: a watch is a hint, the scan is the truth. K3: a file that does not open is named
 *     and left alone; it is no message. K4: a request is removed when what it asks is durable, and counts once.
 */
import type { Clock } from "../../base/clock.js";
import { sha256Hex } from "../../base/digest.js";
import { isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import type { QuestionId } from "../../base/ids.js";
import { createUuid } from "../../base/ids.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { Log } from "../../base/log.js";
import type { RandomSource } from "../../base/random.js";
import { PIN_PREFIX } from "../../checkpoint/pins.js";
import type { ControlInbox, ControlMessage } from "../../engine/ports.js";
import type { TaskState } from "../../engine/state/state.js";
import type { TaskStore } from "../../store/contract.js";
import type { TaskVault } from "../../vault/contract.js";
import type { AuditTrail } from "../audit/audit-trail.js";
import { decodeControlFile, encodeControlFile } from "./control-file.js";
import { formatTime } from "../views.js";

const SCAN_MS = 500;
const PREFIX = "control/";
const REQUEST_PREFIX = `${PREFIX}request-`;
const DISK_CODES = ["STORE_FAILED", "STORE_FULL", "STORE_BUSY", "STORE_UNWRITABLE"] as const;

export interface Answer {
  readonly question: QuestionId;
  readonly answer: string;
  readonly value?: JsonValue;
  readonly by: string;
  readonly at: string;
  /** Of a wizard: which move it is, from 1. */
  readonly move?: number;
}

export interface ControlDeps {
  readonly task: TaskStore;
  readonly vault: TaskVault;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  readonly audit: AuditTrail;
}

const MOVE_DIGITS = 6;

function answerKey(question: QuestionId, move?: number): string {
  const key = `${PREFIX}answer-${sha256Hex(question).slice(0, 40)}`;
  return move === undefined ? key : `${key}-${String(move).padStart(MOVE_DIGITS, "0")}`;
}

/** The key of the move before, for the move of a wizard that is not its first. */
function keyBefore(key: string): string | undefined {
  const move = /^(.*-[0-9a-f]{40})-(\d+)$/.exec(key);
  const number = Number(move?.[2] ?? 0);
  return number <= 1 ? undefined : `${move?.[1] ?? ""}-${String(number - 1).padStart(MOVE_DIGITS, "0")}`;
}

/**
 * Records an answer; the first one for a question wins.
 *
 * Errors: QUESTION_CLOSED with who answered and when.
 */
export async function recordAnswer(deps: ControlDeps, given: Omit<Answer, "at">): Promise<Answer> {
  const answer: Answer = { ...given, at: formatTime(deps.clock.nowMs()) };
  const key = answerKey(given.question, given.move);
  const outcome = await deps.task.putOnce(key, encodeControlFile(deps.vault, key, { kind: "answer", ...answer }));
  if (outcome === "created") {
    const details = { question: answer.question, answer: answer.answer, by: answer.by };
    await deps.audit.note(deps, { event: "answered", verb: "answer", details });
    return answer;
  }
  const winner = await loadAnswer(deps, given.question, given.move);
  const who = winner === undefined ? "somebody else" : `${winner.by} at ${winner.at} with ${winner.answer}`;
  throw new SplashdownError("QUESTION_CLOSED", `question ${given.question} was answered by ${who}`, {
    details: {
      task: deps.task.name,
      question: given.question,
      ...(winner === undefined ? {} : { by: winner.by, at: winner.at, answer: winner.answer }),
    },
  });
}

/** The recorded answer of a question, if there is one. */
export async function loadAnswer(
  deps: Pick<ControlDeps, "task" | "vault">,
  question: QuestionId,
  move?: number,
): Promise<Answer | undefined> {
  const key = answerKey(question, move);
  const bytes = await deps.task.get(key);
  return bytes === undefined ? undefined : parseAnswer(decodeControlFile(deps.vault, key, bytes));
}

/** What is in `control/` and no pin: what an owner has yet to take, and what is done with. */
export interface ControlKeys {
  readonly untaken: readonly string[];
  readonly taken: readonly string[];
}

/** An answer is done with when its question is not open any more, a request when its owner removed it. */
export async function listControl(task: Pick<TaskStore, "list">, state: TaskState): Promise<ControlKeys> {
  const open = [...state.questions.values()].filter(({ status }) => status === "open").map(({ id }) => answerKey(id));
  const keys = (await task.list(PREFIX)).map(({ key }) => key).filter((key) => !key.startsWith(PIN_PREFIX));
  const isUntaken = (key: string): boolean =>
    key.startsWith(REQUEST_PREFIX) || open.some((answer) => key.startsWith(answer));
  return { untaken: keys.filter(isUntaken), taken: keys.filter((key) => !isUntaken(key)) };
}

/** Leaves a request for the owner, who removes its key when what it asks is durable. */
export async function leaveRequest(deps: ControlDeps, body: JsonObject): Promise<{ key: string; id: string }> {
  const id = createUuid(deps.random);
  const key = `${REQUEST_PREFIX}${id}`;
  await deps.task.putOnce(key, encodeControlFile(deps.vault, key, body));
  return { key, id };
}

type GuidanceMessage = Extract<ControlMessage, { readonly kind: "guidance" }>;

/** What people said and no owner has taken yet, the oldest first; a request that does not open is none. */
export async function listGuidanceLeft(deps: Pick<ControlDeps, "task" | "vault">): Promise<readonly GuidanceMessage[]> {
  const found: GuidanceMessage[] = [];
  for (const { key } of await deps.task.list(REQUEST_PREFIX)) {
    const bytes = await deps.task.get(key);
    const message = bytes === undefined ? undefined : tryToOpen(deps.vault, key, bytes);
    if (message?.kind === "guidance") found.push({ ...message, id: key.slice(REQUEST_PREFIX.length) });
  }
  return found.sort(byTime);
}

function byTime({ at: left }: GuidanceMessage, { at: right }: GuidanceMessage): number {
  return left < right ? -1 : Number(left > right);
}

function tryToOpen(vault: TaskVault, key: string, bytes: Uint8Array): ControlMessage | undefined {
  try {
    return parseMessage(decodeControlFile(vault, key, bytes));
  } catch (error) {
    if (error instanceof SplashdownError && error.code !== "INTERNAL") return undefined;
    throw error;
  }
}

/**
 * The owner's side: every readable answer and request, each once. Answers stay; requests are removed when what they ask is
 * durable (K4), so that neither a crash nor a failure in between loses one; who finds it again knows it by its id.
 */
export class FolderInbox implements ControlInbox {
  readonly #deps: ControlDeps;
  readonly #seen = new Set<string>();
  readonly #waiting: { readonly message: ControlMessage; readonly taken: (isDurable: boolean) => void }[] = [];
  #receive: ((message: ControlMessage) => Promise<boolean>) | undefined;
  #removing: Promise<void> = Promise.resolve();
  #scanning: Promise<void> = Promise.resolve();

  constructor(deps: ControlDeps) {
    this.#deps = deps;
  }

  /** Reads what is there before the task goes on, so that an answer given meanwhile counts at once. */
  load(): Promise<void> {
    return this.#scan();
  }

  /** Puts in a message of this process (a terminal, a preset). An answer is found in the folder too; once taken it says nothing new. */
  push(message: ControlMessage): void {
    void this.#hand(message);
  }

  /** Resolves with true when it is durable. */
  #hand(message: ControlMessage): Promise<boolean> {
    if (this.#receive !== undefined) return this.#receive(message);
    return new Promise((taken) => this.#waiting.push({ message, taken }));
  }

  /** Resolves when the requests that are durable are removed. */
  settled(): Promise<void> {
    return this.#removing;
  }

  /** Hands on what was answered to a question before this process asked it. Shape: true when there was something. */
  async retake(question: QuestionId): Promise<boolean> {
    const answer = await loadAnswer(this.#deps, question);
    if (answer !== undefined) this.push({ kind: "answer", ...answer });
    let move = 1;
    for (; ; move += 1) {
      const made = await loadAnswer(this.#deps, question, move);
      if (made === undefined) return answer !== undefined || move > 1;
      this.push({ kind: "answer", ...made });
    }
  }

  async answer({ kind: _kind, ...given }: Extract<ControlMessage, { kind: "answer" }>): Promise<void> {
    try {
      this.push({ kind: "answer", ...(await recordAnswer(this.#deps, given)) });
    } catch (error) {
      this.#deps.log.warn(`the answer to ${given.question} was not recorded: ${messageOf(error)}`);
      if (isErrorCode(error, "QUESTION_CLOSED")) await this.retake(given.question).catch(() => false);
    }
  }

  listen(receive: (message: ControlMessage) => Promise<boolean>): () => void {
    this.#receive = receive;
    for (const { message, taken } of this.#waiting.splice(0)) void receive(message).then(taken);
    const scan = (): void => {
      this.#scanning = this.#scanning.then(() => this.#scan());
    };
    const stopWatching = this.#deps.task.watch(PREFIX, scan);
    const stopTimer = this.#deps.clock.every(SCAN_MS, scan);
    return () => {
      this.#receive = undefined;
      stopWatching();
      stopTimer();
    };
  }

  async #scan(): Promise<void> {
    try {
      const keys = (await this.#deps.task.list(PREFIX)).map(({ key }) => key).sort();
      for (const key of keys) {
        const before = keyBefore(key);
        // The moves of a wizard are taken in order.
        if (!this.#seen.has(key) && (before === undefined || this.#seen.has(before))) await this.#take(key);
      }
    } catch (error) {
      this.#deps.log.debug(`control files could not be read: ${messageOf(error)}`);
    }
  }

  async #take(key: string): Promise<void> {
    this.#seen.add(key);
    try {
      const bytes = await this.#deps.task.get(key);
      if (bytes === undefined) return;
      const message = parseMessage(decodeControlFile(this.#deps.vault, key, bytes));
      const id = key.startsWith(REQUEST_PREFIX) ? key.slice(REQUEST_PREFIX.length) : undefined;
      if (message === undefined || id === undefined || message.kind === "answer") {
        if (message !== undefined) this.push(message);
        return;
      }
      void this.#hand({ ...message, id }).then((isDurable) => {
        if (isDurable) this.#removing = this.#removing.then(() => this.#remove(key));
      });
    } catch (error) {
      // What the disk refused now it may give at the next look.
      if (isErrorCode(error, ...DISK_CODES)) this.#seen.delete(key);
      this.#deps.log.warn(`${key} was ignored: ${messageOf(error)}`);
    }
  }

  async #remove(key: string): Promise<void> {
    try {
      await this.#deps.task.remove(key);
    } catch (error) {
      this.#deps.log.warn(`${key} was taken and could not be removed: ${messageOf(error)}`);
    }
  }
}

function parseMessage(body: JsonObject): ControlMessage | undefined {
  const by = typeof body["by"] === "string" ? body["by"] : "unknown";
  const note = typeof body["note"] === "string" ? { note: body["note"] } : {};
  switch (body["kind"]) {
    case "answer": {
      const answer = parseAnswer(body);
      return answer === undefined ? undefined : { kind: "answer", ...answer };
    }
    case "checkpoint":
      return { kind: "checkpoint", by, ...note };
    case "pause":
    case "stop":
      return { kind: body["kind"], by, ...note };
    case "guidance":
      return parseGuidance(body, by);
    default:
      return undefined;
  }
}

function parseGuidance({ text, path, at }: JsonObject, by: string): GuidanceMessage | undefined {
  if (typeof text !== "string" || text.length > LIMITS.guidanceCharsMax || typeof at !== "string") return undefined;
  return { kind: "guidance", text, by, at, ...(typeof path === "string" ? { path } : {}) };
}

function parseAnswer(body: JsonObject): Answer | undefined {
  const { question, answer, by, at, value, move } = body;
  if (typeof question !== "string" || typeof answer !== "string") return undefined;
  return {
    question: question as QuestionId,
    answer,
    by: typeof by === "string" ? by : "unknown",
    at: typeof at === "string" ? at : "",
    ...(value === undefined ? {} : { value }),
    ...(typeof move === "number" ? { move } : {}),
  };
}
