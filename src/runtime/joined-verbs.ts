/**
 * The verbs over all stores of one opened Splashdown: a task is looked for in the own store first, then in those that
 * workflow files named (workplaces.ts); verbs about all tasks put the answers of all stores together.
 *
 * A store that does not answer stops no verb about all tasks: what is missing is said. New tasks of imports and of programs
 * go to the own store; a fork goes where its origin is.
 */
import { isErrorCode, messageOf, SplashdownError } from "../base/errors.js";
import type { Splashdown } from "./contract.js";
import { sortQuestions } from "./views/question-order.js";
import type { Services } from "./services/services.js";

type Act<T> = (verbs: Splashdown) => Promise<T>;

interface Joined {
  /** The first store that has what is named. Errors: those of the own store where none has it. */
  readonly first: <T>(act: Act<T>) => Promise<T>;
  /** The answers of all stores, the own one first. Errors: those of the own store. */
  readonly all: <T>(act: Act<T>) => Promise<T[]>;
}

export function joinVerbs(own: Services, verbs: Splashdown, create: (services: Services) => Splashdown): Splashdown {
  const joined = createJoined(own, verbs, create);
  const { first, all } = joined;
  return {
    ...verbs,
    ...joinActing(joined),
    taskNames: async () => (await joined.all((at) => at.taskNames())).flat().sort(),
    list: (task) => (task === undefined ? listAll(joined) : first((at) => at.list(task))),
    show: (task, options) => first((at) => at.show(task, options)),
    showStep: (task, step) => first((at) => at.showStep(task, step)),
    questions: (task) => (task === undefined ? listAllQuestions(joined) : first((at) => at.questions(task))),
    graph: (of, format) => (typeof of === "string" ? verbs.graph(of, format) : first((at) => at.graph(of, format))),
    events: (task, options) => streamFirst(joined, task, options),
    metrics: (task) => (task === undefined ? verbs.metrics() : first((at) => at.metrics(task))),
    timeline: (task) => first((at) => at.timeline(task)),
    confidence: (task) => first((at) => at.confidence(task)),
    audit: {
      show: (task) => first((at) => at.audit.show(task)),
      verify: (task) => first((at) => at.audit.verify(task)),
    },
    checkpoints: joinCheckpoints(joined, verbs),
    debug: {
      listCheckpoints: (task) => first((at) => at.debug.listCheckpoints(task)),
      validateCheckpoint: (file, options) => verbs.debug.validateCheckpoint(file, options),
      replay: (checkpoint, options) => first((at) => at.debug.replay(checkpoint, options)),
      diffCheckpoints: (from, to, options) => first((at) => at.debug.diffCheckpoints(from, to, options)),
    },
    keys: joinKeys(joined, verbs),
    store: {
      copy: (options) => verbs.store.copy(options),
      trash: async () => {
        const [head, ...others] = await all((at) => at.store.trash());
        return { ...required(head), tasks: [head, ...others].flatMap((view) => view?.tasks ?? []) };
      },
      remove: (tasks, options) => first((at) => at.store.remove(tasks, options)),
      restore: (tasks) => first((at) => at.store.restore(tasks)),
      purge: (tasks, options) => first((at) => at.store.purge(tasks, options)),
    },
  };
}

function createJoined(own: Services, verbs: Splashdown, create: (services: Services) => Splashdown): Joined {
  const made = new Map<Services, Splashdown>();
  const verbsOf = (services: Services): Splashdown => {
    const found = made.get(services) ?? create(services);
    made.set(services, found);
    return found;
  };
  return {
    first: async (act) => {
      try {
        return await act(verbs);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        for (const services of await own.places.others(own)) {
          const found = await tryAt(act, verbsOf(services));
          if (found !== undefined) return found.value;
        }
        throw error;
      }
    },
    all: async (act) => {
      const views = [await act(verbs)];
      for (const services of await own.places.others(own)) {
        try {
          views.push(await act(verbsOf(services)));
        } catch (error) {
          if (!(error instanceof SplashdownError) || error.code === "INTERNAL") throw error;
          own.log.warn(`tasks in ${services.store.address} are left out: ${messageOf(error)}`);
        }
      }
      return views;
    },
  };
}

function isNotFound(error: unknown): boolean {
  return isErrorCode(error, "TASK_NOT_FOUND", "CHECKPOINT_NOT_FOUND");
}

async function tryAt<T>(act: Act<T>, verbs: Splashdown): Promise<{ readonly value: T } | undefined> {
  try {
    return { value: await act(verbs) };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function required<T>(view: T | undefined): T {
  if (view === undefined) throw new Error("the own store gave no answer");
  return view;
}

async function listAll({ all }: Joined): ReturnType<Splashdown["list"]> {
  return (await all((at) => at.list())).flat().sort((a, b) => (a.task < b.task ? -1 : 1));
}

async function listAllQuestions({ all }: Joined): ReturnType<Splashdown["questions"]> {
  const views = await all((at) => at.questions());
  return {
    questions: sortQuestions(views.flatMap(({ questions }) => questions)),
    passed_over: views.flatMap(({ passed_over: passedOver }) => passedOver),
  };
}

function joinActing({
  first,
  all,
}: Joined): Pick<Splashdown, "resume" | "resumeFromCheckpoint" | "recover" | "fork" | "answer" | "request" | "guide"> {
  return {
    resume: (options) => first((at) => at.resume(options)),
    resumeFromCheckpoint: (id, options) => first((at) => at.resumeFromCheckpoint(id, options)),
    recover: async (options) => {
      const views = await all((at) => at.recover(options));
      const tasks = views.flatMap((view) => view.tasks).sort((a, b) => (a.task < b.task ? -1 : 1));
      const [only = 0, second] = new Set(views.map((view) => view.exit_status).filter((status) => status !== 0));
      return { tasks, exit_status: second === undefined ? only : SEVERAL };
    },
    fork: (task, options) => first((at) => at.fork(task, options)),
    answer: (options) => first((at) => at.answer(options)),
    request: (task, kind, options) => first((at) => at.request(task, kind, options)),
    guide: (options) => first((at) => at.guide(options)),
  };
}

/** Exit status where tasks were left lying for more than one reason. */
const SEVERAL = 4;

function joinCheckpoints({ first, all }: Joined, { checkpoints }: Splashdown): Splashdown["checkpoints"] {
  return {
    list: async (task) =>
      task === undefined ? (await all((at) => at.checkpoints.list())).flat() : first((at) => at.checkpoints.list(task)),
    show: (reference, options) => first((at) => at.checkpoints.show(reference, options)),
    prune: async (options) => {
      if (options?.task !== undefined) return first((at) => at.checkpoints.prune(options));
      const views = await all((at) => at.checkpoints.prune(options));
      return {
        dry_run: views.every((view) => view.dry_run),
        freed: views.reduce((sum, view) => sum + view.freed, 0),
        tasks: views.flatMap((view) => view.tasks),
      };
    },
    clear: (task, options) => first((at) => at.checkpoints.clear(task, options)),
    pin: (reference, options) => first((at) => at.checkpoints.pin(reference, options)),
    unpin: (reference) => first((at) => at.checkpoints.unpin(reference)),
    export: (task, options) => first((at) => at.checkpoints.export(task, options)),
    import: (file, options) => checkpoints.import(file, options),
    open: (task) => checkpoints.open(task),
  };
}

function joinKeys({ first }: Joined, { keys }: Splashdown): Splashdown["keys"] {
  return {
    init: (options) => keys.init(options),
    ack: () => keys.ack(),
    show: (task) => (task === undefined ? keys.show() : first((at) => at.keys.show(task))),
    verify: (task) => (task === undefined ? keys.verify() : first((at) => at.keys.verify(task))),
    add: (target, source) => first((at) => at.keys.add(target, source)),
    remove: (target, name) => first((at) => at.keys.remove(target, name)),
    rotate: (target, options) => first((at) => at.keys.rotate(target, options)),
    accept: (task, options) => first((at) => at.keys.accept(task, options)),
    shred: (task, options) => first((at) => at.keys.shred(task, options)),
  };
}

type Stream = ReturnType<Splashdown["events"]>;

/** The first event says whether the task is there. */
async function* streamFirst({ first }: Joined, task: string, options: Parameters<Splashdown["events"]>[1]): Stream {
  const { events, begun } = await first(async (at) => {
    const iterator = at.events(task, options)[Symbol.asyncIterator]();
    return { events: iterator, begun: await iterator.next() };
  });
  for (let next = begun; next.done !== true; next = await events.next()) yield next.value;
}
