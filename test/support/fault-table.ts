/**
 * FAULTS as far as they concern one machine, and models and tools as a client: by rank, the tests that show the right behaviour for the whole kind.
 * A title is the text in the file, or the beginning of it. `fault-table.test.ts` holds that they are all there.
 */
import type { NamedTest } from "./named-tests.js";

export interface FaultRow {
  readonly rank: number;
  readonly fault: string;
  readonly tests: readonly NamedTest[];
}

const at = (file: string, ...titles: readonly string[]) => titles.map((title) => ({ file, title }));

export const FAULT_TABLE: readonly FaultRow[] = [
  {
    rank: 1,
    fault: "finished work thrown away when a usage limit hits",
    tests: [
      ...at("unit/engine/group.test.ts", "a rate limit is a pause with a resume time and no failure"),
      ...at("unit/engine/runner/time.test.ts", "a rate limit is a pause and not a failure"),
      ...at("integration/agents/cli/cli-step.test.ts", "FAULTS 1: whose account is used up asks to wait"),
      ...at("e2e/examples/examples.test.ts", "FAULTS 1: waits where the ninth agent is refused"),
      ...at("e2e/kill/language-faults.test.ts", "FAULTS 1: a limit of the provider in the middle of many items"),
      ...at("e2e/models/limits.test.ts", "in the middle of a step's turns is asked again for that turn alone"),
    ],
  },
  {
    rank: 5,
    fault: "run says completed with part of the work missing",
    tests: [
      ...at(
        "unit/engine/for-each.test.ts",
        "continue_on_error does all others, leaves a hole that is named, and ends partial",
      ),
      ...at("unit/engine/machine.test.ts", "follows the next valid route with on_failure: continue and ends partial"),
      ...at("unit/engine/unknown-outcome.test.ts", "skip goes on without it and the task ends partial"),
      ...at(
        "unit/engine/rules/partial-failure.test.ts",
        "[source 5] is gone on without and not started under another name, once restarts are used up",
      ),
      ...at(
        "e2e/growth/items.test.ts",
        "FAULTS 5: keeps a slot for each item, names those that failed, and ends with 3",
      ),
      ...at("e2e/kill/language-faults.test.ts", "FAULTS 5: items that failed, and a kill when five of ten are done"),
    ],
  },
  {
    rank: 6,
    fault: "two resumes or approvals race, downstream runs twice",
    tests: [
      ...at("integration/runtime/gates.test.ts", "FAULTS 6: of several answers the first counts"),
      ...at("unit/store/postgres-store.test.ts", "FAULTS 6: an answer whose acknowledgement was cut off stands"),
      ...at("e2e/command/questions.test.ts", "FAULTS 6: of eight processes at once exactly one wins"),
      ...at("e2e/mcp/questions.test.ts", "FAULTS 6: of eight at the command line and over MCP at once one wins"),
      ...at(
        "e2e/command/gates.test.ts",
        "FAULTS 6: of eight that answer at once one wins",
        "FAULTS 6: of eight that answer one item at once one wins for each",
      ),
      ...at("e2e/kill/language-faults.test.ts", "are answered by one of eight, listed after a kill"),
    ],
  },
  {
    rank: 7,
    fault: "one member of a parallel group fails, all are run again",
    tests: [
      ...at("e2e/kill/faults.test.ts", "FAULTS 7: one member of a parallel group does not finish"),
      ...at("e2e/kill/language-faults.test.ts", "FAULTS 7: one item does not finish"),
    ],
  },
  {
    rank: 8,
    fault: "approval recorded, run never moves after a restart",
    tests: [
      ...at("integration/runtime/gates.test.ts", "FAULTS 8: an answer that came after the owner left"),
      ...at("e2e/command/gates.test.ts", "FAULTS 8: after a kill it is listed with the same id and text"),
      ...at("e2e/mcp/questions.test.ts", "FAULTS 8: one is answered at the command line, one over MCP after a kill"),
      ...at("unit/mcp/tools.test.ts", "FAULTS 8: is answered where it is allowed"),
      ...at("e2e/kill/language-faults.test.ts", "FAULTS 8: gates inside nested workflows inside items"),
    ],
  },
  {
    rank: 9,
    fault: "resume skips the failed step and reports success",
    tests: [
      ...at(
        "e2e/command/resume.test.ts",
        "FAULTS 9: runs the failed step %i first",
        "FAULTS 9: says why nothing runs when nothing is left",
      ),
      ...at("e2e/kill/language-faults.test.ts", "FAULTS 9: a step that fails inside a nested workflow inside an item"),
    ],
  },
  {
    rank: 11,
    fault: "retention deletes silently and for good",
    tests: [
      ...at("unit/runtime/retention-and-size.test.ts", "FAULTS 11: retention deletes silently and for good"),
      ...at(
        "e2e/past/retention.test.ts",
        "plans without changing a byte, refuses to remove without --yes, and removes with it",
        "never removes what is pinned, and keeps two files more of an unfinished task that is cleared",
        "shortens the history, says what becomes unreachable, and the rest goes on",
      ),
      ...at(
        "simulation/verbs/scenarios.ts",
        "prune of files",
        "prune of the history",
        "a whole task that goes to the trash by age",
      ),
    ],
  },
  {
    rank: 12,
    fault: "a silent model stream hangs the run for hours",
    tests: [
      ...at(
        "unit/agents/models/broken-wire.test.ts",
        "is ended by the limit on silence: one %s",
        "is left at once while it is %s, and no connection stays",
      ),
      ...at(
        "e2e/models/limits.test.ts",
        "is ended by idle_timeout when it never answers, stops halfway or only keeps alive; what came is kept",
        "is no model that asks to wait for longer",
        "is left at Ctrl+C whatever it does, with everything saved",
      ),
      ...at("unit/agents/silence.test.ts", "the limit on silence of a program"),
    ],
  },
  {
    rank: 15,
    fault: "secrets end up in checkpoints, logs and exports",
    tests: [
      ...at("e2e/models/providers.test.ts", "FAULTS 15: keys and secrets"),
      ...at(
        "e2e/models/secrets.test.ts",
        "FAULTS 15: secrets of tool servers and agents",
        "FAULTS 15: secrets of models and far servers",
      ),
    ],
  },
  {
    rank: 16,
    fault: "workflow edited between runs: stale position, or no resume at all",
    tests: [
      ...at("unit/engine/changed-definition.test.ts", "a changed definition"),
      ...at("e2e/past/edited-workflow.test.ts", "FAULTS 16: an edit of $form"),
      ...at(
        "e2e/trust/keeps.test.ts",
        "for a workflow file that is gone goes on by the sealed definition, and says so",
      ),
    ],
  },
  {
    rank: 17,
    fault: "spend is measured but never stops the run",
    tests: [
      ...at(
        "unit/engine/questions.test.ts",
        "stops before the fourth of calls at a third of it each, counts over a crash, and goes on when it is raised",
        "is passed by no more than what was under way: of many at once none starts for which there is no room",
      ),
      ...at("unit/engine/shared-limits.test.ts", "FAULTS 17: one budget for the items of a for_each"),
      ...at("e2e/models/providers.test.ts", "stops before the call that would go over the budget"),
    ],
  },
  {
    rank: 19,
    fault: "loop counter restarts on resume",
    tests: [
      ...at("e2e/kill/faults.test.ts", "FAULTS 19: a loop that is killed after every step"),
      ...at("e2e/command/resume.test.ts", "FAULTS 19: counts over owners, stops with 21"),
      ...at("e2e/kill/language-faults.test.ts", "FAULTS 19: a loop in a nested workflow in an item"),
    ],
  },
  {
    rank: 20,
    fault: "a malformed answer kills the run and its text is lost",
    tests: [
      ...at("unit/agents/conversation.test.ts", "FAULTS 20: an answer that is not what the step declares"),
      ...at("e2e/kill/language-faults.test.ts", "FAULTS 20: an item whose answers are not what is declared"),
    ],
  },
  {
    rank: 22,
    fault: "gate cannot be answered in background or unattended runs",
    tests: [
      ...at("e2e/command/questions.test.ts", "FAULTS 22: never prompts, and the end of its input is no answer"),
      ...at(
        "e2e/command/gates.test.ts",
        "FAULTS 22: in the background, with an input that ends at once",
        "FAULTS 22: an expiry is announced and reminded of",
      ),
      ...at(
        "e2e/faces/terminal-questions.test.ts",
        "FAULTS 22: is answered as the workflow says",
        "FAULTS 22: an answer that comes too late for the time",
      ),
    ],
  },
  {
    rank: 24,
    fault: "checkpoint store grows without bound",
    tests: at(
      "e2e/growth/growth.test.ts",
      "FAULTS 24: a task of 200 steps that add 20 KB each, and a constant of 2 MB",
    ),
  },
  {
    rank: 26,
    fault: "Retry-After ignored or misread",
    tests: [
      ...at("unit/agents/models/retry-time.test.ts", "reads %s in headers"),
      ...at("unit/agents/models/broken-wire.test.ts", "%s with Retry-After is a limit with the time it said"),
      ...at(
        "e2e/models/limits.test.ts",
        "in %s is asked again no earlier, and it uses up no attempt",
        "for long ends with 75 and the time; running again before it asks nothing",
        "is left at once with --no-wait, and taken up by recover when the time has come",
        "keeps the wait through a kill: no request before the time",
        "holds back all others: no more are refused than were under way",
      ),
    ],
  },
  {
    rank: 29,
    fault: "sub-workflow starts over when its parent resumes",
    tests: [
      ...at("e2e/growth/items.test.ts", "FAULTS 29: killed three levels deep goes on there"),
      ...at(
        "e2e/kill/language-faults.test.ts",
        "FAULTS 29: one file nested twice, side by side",
        "FAULTS 29: a workflow three levels down",
      ),
    ],
  },
  {
    rank: 31,
    fault: "resume destroys the last good checkpoint first",
    tests: [
      ...at(
        "e2e/trust/keeps.test.ts",
        "a resume that fails",
        "for a step's program that is gone keeps all checkpoints",
        "on a file system that cannot be written says so and keeps everything",
        "by a kill at any moment after its start keeps all checkpoints",
      ),
      ...at("simulation/verbs/verb-explorer.test.ts", "R10: what goes on after a crash may crash too"),
    ],
  },
  {
    rank: 37,
    fault: "shown as running long after the end",
    tests: [
      ...at(
        "e2e/command/inspection.test.ts",
        "tells a running task's owner, and everything of a finished one",
        "--follow shows what comes while the task runs, one document per line, and ends with its owner",
      ),
      ...at(
        "e2e/kill/faults.test.ts",
        "is listed as interrupted at its third step without being asked for checkpoints",
      ),
      ...at("e2e/trust/ownership.test.ts", "is seen from another process namespace: living as alive, dead as gone"),
    ],
  },
  {
    rank: 38,
    fault: "long call over MCP times out and its result is dropped",
    tests: [
      ...at("e2e/mcp/long-task.test.ts", "FAULTS 38: a workflow that takes longer than any call"),
      ...at("integration/agents/tool-servers/long-calls.test.ts", "FAULTS 38: a long call of a tool server"),
      ...at(
        "e2e/models/tools.test.ts",
        "is asked about when the program was killed in the middle of its call; its server is gone",
      ),
    ],
  },
  {
    rank: 40,
    fault: "an encrypted store happily loads plain data",
    tests: [
      ...at(
        "unit/checkpoint/file-damage.test.ts",
        "FAULTS 40: is refused where plain data stands in for sealed data",
        "FAULTS 40: an unencrypted task does not open a sealed file without its key",
        "says that version %s is not one it reads",
      ),
      ...at("unit/vault/sealing.test.ts", "V3: refuses plain data unless it was opened with allowPlain"),
      ...at("unit/vault/task-vault.test.ts", "V3: takes a task without a keyring for plain only where that is allowed"),
      ...at(
        "unit/runtime/control-damage.test.ts",
        "is refused under another name, in another task, and plain where the task is sealed",
      ),
      ...at(
        "unit/runtime/audit-file.test.ts",
        "is not accepted plain where the task is encrypted, and opens where it is not",
      ),
    ],
  },
  {
    rank: 45,
    fault: "Windows: replace fails, console output kills a finished run",
    tests: [
      ...at("unit/store/retrying-file-system.test.ts", "FAULTS 45: a rename refused $times times with $errno"),
      ...at("unit/runtime/held-files.test.ts", "FAULTS 45: a task whose files are held when they are renamed"),
      ...at("e2e/command/output.test.ts", "FAULTS 45: text of agents", "FAULTS 45: a reader that goes away"),
    ],
  },
  {
    rank: 47,
    fault: "oversized output: endless retry or a run that never ends",
    tests: at(
      "unit/runtime/retention-and-size.test.ts",
      "FAULTS 47: an output over every limit",
      "is a named failure of one attempt however often a retry is allowed, and the task can be shown",
    ),
  },
  {
    rank: 49,
    fault: "misplaced YAML key is ignored, gate never happens",
    tests: [
      ...at("unit/definition/author-checks.test.ts", "an author is told"),
      ...at(
        "unit/definition/gates.test.ts",
        "FAULTS 49: %s is told: %s",
        "FAULTS 49: a key of a gate at a step that is none",
      ),
      ...at("e2e/command/place.test.ts", "FAULTS 49: answers with every fault and its place"),
    ],
  },
  {
    rank: 52,
    fault: "replay and diff show noise, not the first difference",
    tests: [
      ...at(
        "unit/checkpoint/diff.test.ts",
        "FAULTS 52: names the first step, the field and both words, whatever the order of finishing",
      ),
      ...at(
        "e2e/command/inspection.test.ts",
        "FAULTS 52: replay tells the story up to the checkpoint, finds no difference, and runs nothing",
        "FAULTS 52: diff ends with 0 for the same and with 1 for another, the first differing step first",
        "FAULTS 52: two runs of the same workflow differ in nothing but what differs",
      ),
      ...at("e2e/past/differences.test.ts", "names the first step that differs first, long text by line"),
    ],
  },
];
