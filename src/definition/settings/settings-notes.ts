/** Says for people what settings do, do not do, and where they came from. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { DEFAULT_ORIGIN, type EffectiveSettings, type MergedSettings } from "./settings.js";

export interface SettingsNote {
  /** Dotted key. */
  readonly key: string;
  readonly text: string;
}

interface NoteRule {
  readonly key: string;
  readonly applies: (settings: EffectiveSettings) => boolean;
  readonly text: string;
  /** It does what it says; the text is for whoever looks at all settings, not for whoever set it. */
  readonly isExplanation?: boolean;
}

/** What a key cannot do in Node or in this version, or does otherwise than its name lets one think. */
const RULES: readonly NoteRule[] = [
  {
    key: "performance_config.memory_mapped_threshold_mb",
    applies: () => true,
    text: "Node maps no files into memory; values of 256 KiB and more are sealed blobs that are read by range, whatever this says",
  },
  {
    key: "performance_config.batch_decisions",
    applies: (settings) => !settings.performance_config.batch_decisions,
    text: "decisions always share the sync of the step they belong to; a sync of their own would make nothing safer",
  },
  {
    key: "checkpoint_config.enabled",
    applies: (settings) => !settings.checkpoint_config.enabled,
    text: "no snapshot files are written; the journal is, so a task still resumes, only slower",
  },
  {
    key: "checkpoint_config.encryption",
    applies: (settings) => !settings.checkpoint_config.encryption,
    text: "everything is written unencrypted, and every file is marked so",
  },
  {
    key: "checkpoint_config.retention_days",
    applies: (settings) => settings.checkpoint_config.retention_days !== undefined,
    text: "it is about whole ended tasks, not single checkpoints; they go to the trash when a run ends, and with splashdown checkpoints prune",
  },
  {
    key: "checkpoint_config.keep_successful",
    applies: () => true,
    isExplanation: true,
    text: "matters only where retention_days or max_tasks is set: the last done task of each workflow is then kept",
  },
  {
    key: "checkpoint_config.cleanup_interval_minutes",
    applies: () => true,
    isExplanation: true,
    text: "snapshot files are counted after each new one and when a task is resumed; this is how often else in a long run, and how often that looks for whole tasks that are over by retention_days and max_tasks",
  },
  {
    key: "checkpoint_config.automatic_triggers",
    applies: (settings) => settings.checkpoint_config.automatic_triggers !== undefined,
    text: "triggers that are not in the list do not fire",
  },
  {
    key: "checkpoint_config.compression",
    applies: (settings) => !settings.checkpoint_config.compression,
    text: "files are written with codec none; compression_level has no effect",
  },
  {
    key: "performance_config.async_writes",
    applies: (settings) => !settings.performance_config.async_writes,
    text: "the next step waits for every snapshot file",
  },
];

/**
 * Notes on settings that a person set and that do less than their name says, in the order of `RULES`.
 *
 * Shape: explanations, and keys that come from the defaults, are shown only by `listSettings`.
 */
export function explainSettings({ settings, origins }: MergedSettings): readonly SettingsNote[] {
  const isNews = (rule: NoteRule): boolean =>
    rule.isExplanation !== true && origins[rule.key] !== undefined && rule.applies(settings);
  return RULES.filter(isNews).map(({ key, text }) => ({ key, text }));
}

export interface SettingRow {
  readonly key: string;
  readonly value: JsonValue;
  readonly origin: string;
  readonly note?: string;
}

/** Every setting in force with its origin, for `config show`. */
export function listSettings({ settings, origins }: MergedSettings): readonly SettingRow[] {
  const rows: SettingRow[] = [];
  const add = (key: string, value: JsonValue): void => {
    const rule = RULES.find((one) => one.key === key && one.applies(settings));
    rows.push({
      key,
      value,
      origin: origins[key] ?? DEFAULT_ORIGIN,
      ...(rule === undefined ? {} : { note: rule.text }),
    });
  };
  for (const [key, value] of Object.entries(settings as unknown as JsonObject)) {
    if (!isJsonObject(value)) add(key, value ?? null);
    else for (const [name, item] of Object.entries(value)) add(`${key}.${name}`, item ?? null);
  }
  return rows;
}
