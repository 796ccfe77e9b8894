/** The page of `splashdown dashboard`: shows what the server tells, and folds nothing itself. */
import { render } from "preact";
import { Page } from "./views/page.js";
import { listenToKeys } from "./live/keys.js";
import { read } from "./live/api.js";
import { session, type SessionView } from "./live/state.js";
import { startStream } from "./live/stream.js";

listenToKeys();
startStream();
read<SessionView>("session").then(
  (view) => (session.value = view),
  () => undefined,
);
const root = document.querySelector("#page");
if (root !== null) render(<Page />, root);
