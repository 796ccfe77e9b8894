/** What one opened Splashdown has built of the real world, handed to its verbs. */
import type { Clock } from "../../base/clock.js";
import type { FileSystem } from "../../base/file-system.js";
import type { Log } from "../../base/log.js";
import type { RandomSource } from "../../base/random.js";
import type { EffectiveSettings } from "../../definition/settings/settings.js";
import type { LoadedWorkflow } from "../../definition/model/loaded-workflow.js";
import type { WorkflowDefinition } from "../../definition/model/workflow.js";
import type { TemplateEngine } from "../../engine/model/input.js";
import type { MemoryGauge } from "../../engine/model/ports.js";
import type { ProcessHost } from "../../process/contract.js";
import type { Store } from "../../store/contract/contract.js";
import type { Confinement } from "./confinement.js";
import type { AuditTrail } from "../audit/audit-trail.js";
import type { RunningView } from "../views/face-views.js";
import type { Emitter } from "../platform/emitter.js";
import type { Environment } from "../platform/environment.js";
import type { KeyAccess } from "../keychain/key-access.js";
import type { ModelAccess } from "./model-access.js";
import type { Waiting } from "../trust/folder-settings.js";
import type { AskPerson } from "./ask-person.js";

/** See workplaces.ts. */
export interface Places {
  /** Services of the store where tasks of a workflow are kept. Errors: WORKFLOW_OUTSIDE, STORE_UNSUPPORTED, STORE_UNWRITABLE. */
  of(own: Services, definition: Pick<WorkflowDefinition, "settings" | "name">): Promise<Services>;
  /** Of the other stores that have tasks, as far as is known here. Errors: none. */
  others(own: Services): Promise<Services[]>;
  close(): Promise<void>;
}

export interface Services {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  readonly fileSystem: FileSystem;
  readonly store: Store;
  /** Opens another store than the one Splashdown was opened with. */
  readonly openStore: (address: string) => Store;
  readonly settings: EffectiveSettings;
  /** With the blocks of a workflow file. Errors: SETTING_INVALID. */
  readonly settingsOf: (definition: Pick<WorkflowDefinition, "settings" | "name">) => EffectiveSettings;
  /** The stores that workflow files name beside the own one. */
  readonly places: Places;
  /** What the folder's settings say and nobody has trusted. */
  readonly waiting: Waiting | undefined;
  readonly keys: KeyAccess;
  readonly emitter: Emitter;
  readonly audit: AuditTrail;
  readonly memory: MemoryGauge;
  readonly ask: AskPerson | undefined;
  /** Opened on first use. */
  readonly processes: () => ProcessHost;
  readonly templates: () => Promise<TemplateEngine>;
  readonly models: ModelAccess;
  readonly version: string;
  /** Absent for a person's own verbs. */
  readonly confine?: Confinement | undefined;
  /** What runs in this process, by task: how it stands. */
  readonly running: Map<string, () => RunningView>;
  /** Workflows of this program, by name: their functions are nowhere else. */
  readonly programs: Map<string, LoadedWorkflow>;
}
