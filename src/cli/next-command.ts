/** The command to type next works as it is printed: it names the store and the settings that this one was given. */
import { quoteArgument } from "../base/shell-text.js";
import { hidePassword } from "../base/store-address.js";
import type { GlobalOptions } from "./deps.js";

/** But for what names a store itself, a help, and the import of a bundle, which is done elsewhere. */
const COMMAND = /^splashdown (?!--store |checkpoints import |.* --store |.* --help$)/gm;

/** Shape: one command a line, any other text as it is. An address with a password is shown nowhere, so not here either. */
export function repeatFlags(text: string, { store, config }: GlobalOptions): string {
  const flags = [
    ...(store === undefined || hidePassword(store) !== store ? [] : ["--store", quoteArgument(store)]),
    ...(config === undefined ? [] : ["--config", quoteArgument(config)]),
  ];
  return flags.length === 0 ? text : text.replace(COMMAND, () => `splashdown ${flags.join(" ")} `);
}

/** The same for a view that says what to do next. */
export function repeatFlagsIn<T>(view: T, options: GlobalOptions): T {
  if (typeof view !== "object" || view === null || !("next" in view) || typeof view.next !== "string") return view;
  return { ...view, next: repeatFlags(view.next, options) };
}
