/** Answers given ahead by flags. */
import type { PresetAnswers } from "./answer-desk.js";

export interface PresetFlags {
  readonly unknown?: Readonly<Record<string, string>>;
  readonly answer?: string;
  readonly acceptChanges?: boolean;
}

export function presetsOf(flags: PresetFlags): PresetAnswers {
  return { unknown: flags.unknown ?? {}, byKind: {} };
}
