import { questions } from "../live/state.js";
import { route } from "../live/navigation.js";
import { Empty, Loading } from "../parts/notice.js";
import { Text } from "../parts/text.js";
import { QuestionCard } from "./question-card.js";

/** Everything that waits for a person, of all tasks, the oldest first. */
export function InboxView() {
  const view = questions.value;
  const { q = "" } = route.value.query;
  const shown = view?.questions.filter(({ task, question }) => `${task} ${question.text}`.includes(q)) ?? [];
  return (
    <section class="view">
      <div class="head">
        <h1>Inbox</h1>
        <span class="muted">what waits for you, the oldest first</span>
      </div>
      {view === undefined && <Loading />}
      {view !== undefined && shown.length === 0 && (
        <Empty title="Nothing waits for you">
          <p>Approvals, questions, limits that were reached and steps whose outcome nobody knows appear here.</p>
        </Empty>
      )}
      <div class="cards">
        {shown.map(({ task, workflow, question }) => (
          <QuestionCard key={`${task} ${question.id}`} task={task} workflow={workflow} question={question} />
        ))}
      </div>
      {view !== undefined && view.passed_over.length > 0 && (
        <details>
          <summary>{view.passed_over.length} tasks could not be read</summary>
          <ul>
            {view.passed_over.map(({ task, why }) => (
              <li key={task}>
                <Text of={`${task}: ${why}`} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
