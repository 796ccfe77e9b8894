/**
 * Control of a task from outside: the answers and requests that other processes leave, and the owner's inbox.
 *
 * K1: an answer is the exclusive creation of the message `control/answer-<hash of the question>.<digest of what was asked>`,
 *     with `-<number>` for a move of a wizard; the creator wins, everybody else reads who answered and when. An answer to
 *     what stood there before (another text, other options, a history that was cut since) has another name and counts never. K2: a watch is a hint, the scan is
 *     the truth. K3: a file that does not open is named and left alone; it is no message. K4: a request is removed when
 *     what it asks is durable, and counts once. K5: see control-folder.ts.
 */
import type { Clock } from "../../base/clock.js";
import { sha256Hex } from "../../base/digest.js";
import { isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import type { QuestionId } from "../../base/ids.js";
import { createUuid } from "../../base/ids.js";
import type { JsonObject } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import { PIN_PREFIX } from "../../checkpoint/pins.js";
import type { ControlInbox, ControlMessage } from "../../engine/model/ports.js";
import { digestQuestion } from "../../engine/rules/questions/asked.js";
import type { Question } from "../../engine/model/question.js";
import type { TaskState } from "../../engine/model/state.js";
import type { TaskStore } from "../../store/contract/contract.js";
import type { TaskVault } from "../../vault/contract.js";
import type { AuditTrail } from "../audit/audit-trail.js";
import {
  CONTROL_PREFIX,
  controlKey,
  postMessage,
  listMessages,
  loadMessage,
  parseControlKey,
  readMessage,
  removeMessage,
  setMessageAside,
  takeMessage,
  type WritableMailbox,
  type ControlFolder,
  type ControlKey,
} from "./control-folder.js";
import { parseAnswer, parseMessage, type Answer, type GuidanceMessage, type MessageBody } from "./message-body.js";
import { formatTime } from "../views/views.js";

const SCAN_MS = 500;
const ANSWER_PREFIX = `${CONTROL_PREFIX}answer-`;
const REQUEST_PREFIX = `${CONTROL_PREFIX}request-`;
const DISK_CODES = ["STORE_FAILED", "STORE_FULL", "STORE_BUSY", "STORE_UNWRITABLE"] as const;

export interface ControlDeps extends WritableMailbox {
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: AuditTrail;
}

const MOVE_DIGITS = 6;

/** What an answer is about: the question, as it was asked. */
export interface AskedQuestion {
  readonly question: QuestionId;
  readonly asked: string;
}

export function askedOf(question: Question): AskedQuestion {
  return { question: question.id, asked: digestQuestion(question) };
}

function prefixOf(question: QuestionId): string {
  return `${ANSWER_PREFIX}${sha256Hex(question).slice(0, 40)}.`;
}

function answerKey({ question, asked }: AskedQuestion, move?: number): string {
  const key = `${prefixOf(question)}${asked.slice(0, 16)}`;
  return move === undefined ? key : `${key}-${String(move).padStart(MOVE_DIGITS, "0")}`;
}

/** What the move before is about, for the move of a wizard that is not its first. */
function keyBefore(key: string): string | undefined {
  const move = /^(.*-[0-9a-f]{40}\.[0-9a-f]{16})-(\d+)$/.exec(key);
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
  if (await postMessage(deps, answerKey(given, given.move), { kind: "answer", ...answer })) {
    const { question, asked, answer: said, by, move } = answer;
    const details = { question, asked, answer: said, by, ...(move === undefined ? {} : { move }) };
    await deps.audit.note(deps, { event: "answered", verb: "answer", details });
    return answer;
  }
  const vault = await deps.keys.renew(deps.task, deps.vault);
  const standing = await loadMessage({ ...deps, vault }, answerKey(given, given.move));
  const winner = standing === undefined ? undefined : parseAnswer(standing.body);
  if (standing !== undefined && winner === undefined) throw unreadAnswer(deps.task.name, answer.question);
  const who = winner === undefined ? "somebody else" : `${winner.by} at ${winner.at} with ${winner.answer}`;
  throw new SplashdownError("QUESTION_CLOSED", `question ${given.question} was answered by ${who}`, {
    details: {
      task: deps.task.name,
      question: given.question,
      ...(winner === undefined ? {} : { by: winner.by, at: winner.at, answer: winner.answer }),
    },
  });
}

function unreadAnswer(task: string, question: QuestionId): SplashdownError {
  const text = `question ${question} of ${task} was answered in a form that this version does not know`;
  return new SplashdownError("FORMAT_VERSION", text, { details: { task, question } });
}

/** The recorded answer of a question, if there is one. */
export async function loadAnswer(
  folder: ControlFolder,
  question: Question,
  move?: number,
): Promise<Answer | undefined> {
  const found = await loadMessage(folder, answerKey(askedOf(question), move));
  return found === undefined ? undefined : parseAnswer(found.body);
}

/** What people said to the same question as it was asked before; it does not count. */
export async function listOutdatedAnswers(folder: ControlFolder, question: Question): Promise<readonly Answer[]> {
  const current = answerKey(askedOf(question));
  const listed = await listMessages(folder.task, prefixOf(question.id));
  const others = new Set(listed.map(({ about }) => about).filter((about) => !about.startsWith(current)));
  const found: Answer[] = [];
  for (const about of others) {
    const body = await tryToLoad(folder, about);
    const answer = body === undefined ? undefined : parseAnswer(body);
    if (answer !== undefined) found.push(answer);
  }
  return found;
}

/** Answers that are done with: their questions are not open any more. */
export async function listTakenAnswers(
  task: Pick<TaskStore, "list">,
  state: Pick<TaskState, "questions">,
): Promise<readonly string[]> {
  const open = [...state.questions.values()]
    .filter(({ status }) => status === "open")
    .map((question) => answerKey(askedOf(question)));
  const isTaken = ({ about }: ControlKey): boolean => !open.some((answer) => about.startsWith(answer));
  return (await listMessages(task, ANSWER_PREFIX)).filter(isTaken).map(({ key }) => key);
}

/** Leaves a request for the owner, who removes it when what it asks is durable. */
export async function leaveRequest(deps: ControlDeps, body: JsonObject): Promise<{ about: string; id: string }> {
  const id = createUuid(deps.random);
  const about = `${REQUEST_PREFIX}${id}`;
  await postMessage(deps, about, body);
  return { about, id };
}

/** Requests that no owner has taken yet: what people said, the oldest first, and what is not known here, one line each. */
export interface MessagesLeft {
  readonly guidance: readonly GuidanceMessage[];
  readonly unread: readonly string[];
}

/** A message that does not open is none: it is damage, which `doctor --tasks` names. */
export async function listMessagesLeft(deps: Pick<ControlDeps, "task" | "vault">): Promise<MessagesLeft> {
  const guidance: GuidanceMessage[] = [];
  const unread: string[] = [];
  const left = await listMessages(deps.task, REQUEST_PREFIX);
  for (const about of new Set(left.map((message) => message.about))) {
    const body = await tryToLoad(deps, about);
    const message = body === undefined ? undefined : parseMessage(body);
    if (message?.kind === "guidance") guidance.push({ ...message, id: about.slice(REQUEST_PREFIX.length) });
    if (message?.kind === "unread") unread.push(`${about}: ${message.why}`);
  }
  return { guidance: guidance.sort(byTime), unread };
}

function byTime({ at: left }: GuidanceMessage, { at: right }: GuidanceMessage): number {
  return left < right ? -1 : Number(left > right);
}

async function tryToLoad(folder: ControlFolder, about: string): Promise<JsonObject | undefined> {
  try {
    return (await loadMessage(folder, about))?.body;
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
  /** As the keyring was when there was something new. */
  #vault: TaskVault;
  /** Objects, and what they are about. */
  readonly #seen = new Set<string>();
  readonly #waiting: { readonly message: ControlMessage; readonly taken: (isDurable: boolean) => void }[] = [];
  #receive: ((message: ControlMessage) => Promise<boolean>) | undefined;
  #removing: Promise<void> = Promise.resolve();
  #scanning: Promise<void> = Promise.resolve();

  constructor(deps: ControlDeps) {
    this.#deps = deps;
    this.#vault = deps.vault;
  }

  /** Reads what is there before the task goes on, so that an answer given meanwhile counts at once. */
  load(): Promise<void> {
    this.#scanning = this.#scanning.then(() => this.#scan());
    return this.#scanning;
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
  async retake(question: AskedQuestion): Promise<boolean> {
    await this.#renew();
    const answer = await this.#retakeOne(answerKey(question));
    let move = 1;
    while (await this.#retakeOne(answerKey(question, move))) move += 1;
    return answer || move > 1;
  }

  async #retakeOne(about: string): Promise<boolean> {
    const answer = await this.#load(about);
    if (answer === undefined || answer.kind === "unread") return false;
    this.push(answer);
    return true;
  }

  async answer({ kind: _kind, asked = "", ...given }: Extract<ControlMessage, { kind: "answer" }>): Promise<void> {
    try {
      this.push({ kind: "answer", ...(await recordAnswer(this.#deps, { ...given, asked })) });
    } catch (error) {
      this.#deps.log.warn(`the answer to ${given.question} was not recorded: ${messageOf(error)}`);
      if (isErrorCode(error, "QUESTION_CLOSED")) await this.retake({ ...given, asked }).catch(() => false);
    }
  }

  listen(receive: (message: ControlMessage) => Promise<boolean>): () => void {
    this.#receive = receive;
    for (const { message, taken } of this.#waiting.splice(0)) void receive(message).then(taken);
    const scan = (): void => void this.load();
    const stopWatching = this.#deps.task.watch(CONTROL_PREFIX, scan);
    const stopTimer = this.#deps.clock.every(SCAN_MS, scan);
    return () => {
      this.#receive = undefined;
      stopWatching();
      stopTimer();
    };
  }

  async #scan(): Promise<void> {
    try {
      const keys = (await this.#deps.task.list(CONTROL_PREFIX)).map(({ key }) => key);
      const news = keys.filter((key) => !this.#seen.has(key) && !key.startsWith(PIN_PREFIX));
      if (news.length === 0) return;
      await this.#renew();
      for (const [about, found] of this.#group(news)) {
        const before = keyBefore(about);
        // The moves of a wizard are taken in order.
        if (before === undefined || this.#seen.has(before)) await this.#take(about, found);
      }
    } catch (error) {
      this.#deps.log.debug(`control files could not be read: ${messageOf(error)}`);
    }
  }

  /** Another process may have given the task another key: what is left after that is sealed with it. */
  async #renew(): Promise<void> {
    const { task, keys, log } = this.#deps;
    try {
      this.#vault = await keys.renew(task, this.#vault);
    } catch (error) {
      log.warn(`the keyring of ${task.name} was changed and does not open here: ${messageOf(error)}`);
    }
  }

  /** By what they are about, in its order. */
  #group(keys: readonly string[]): Map<string, ControlKey[]> {
    const groups = new Map<string, ControlKey[]>();
    for (const key of [...keys].sort()) {
      const parsed = parseControlKey(key);
      if (parsed === undefined) this.#ignore(key, "its name is that of no message");
      else groups.set(parsed.about, [...(groups.get(parsed.about) ?? []), parsed]);
    }
    return groups;
  }

  #ignore(key: string, why: string): void {
    this.#seen.add(key);
    this.#deps.log.warn(`${key} was ignored: ${why}`);
  }

  async #take(about: string, found: readonly ControlKey[]): Promise<void> {
    const keys = found.map(controlKey);
    for (const each of [about, ...keys]) this.#seen.add(each);
    this.#ignoreUnknown(found);
    try {
      const message = await this.#load(about);
      if (message?.kind === "unread") return this.#ignore(about, message.why);
      const id = about.startsWith(REQUEST_PREFIX) ? about.slice(REQUEST_PREFIX.length) : undefined;
      if (message === undefined || id === undefined || message.kind === "answer") {
        if (message !== undefined) this.push(message);
        return;
      }
      void this.#hand({ ...message, id }).then((isDurable) => {
        if (isDurable) this.#removing = this.#removing.then(() => this.#remove(about));
      });
    } catch (error) {
      // What the disk refused now it may give at the next look.
      if (isErrorCode(error, ...DISK_CODES)) for (const each of [about, ...keys]) this.#seen.delete(each);
      this.#deps.log.warn(`${keys.join(", ")} was ignored: ${messageOf(error)}`);
    }
  }

  #ignoreUnknown(found: readonly ControlKey[]): void {
    for (const one of found)
      if (!this.#vault.generations.includes(one.generation))
        this.#ignore(controlKey(one), `generation ${one.generation} of the task's key is not at hand`);
  }

  /** The owner sets aside what does not open, so that it can be said again. */
  async #load(about: string): Promise<MessageBody | undefined> {
    const { task, log } = this.#deps;
    for (const damage of (await readMessage({ task, vault: this.#vault }, about)).damaged) {
      const movedTo = await setMessageAside(task, damage);
      for (const each of [about, damage.key]) this.#seen.delete(each);
      log.warn(`${damage.key} does not open (${damage.error.code}) and was moved to ${movedTo}; it counts as not said`);
    }
    const taken = await takeMessage({ ...this.#deps, vault: this.#vault }, about);
    return taken === undefined ? undefined : parseMessage(taken.body);
  }

  async #remove(about: string): Promise<void> {
    try {
      await removeMessage(this.#deps.task, about);
    } catch (error) {
      this.#deps.log.warn(`${about} was taken and could not be removed: ${messageOf(error)}`);
    }
  }
}
