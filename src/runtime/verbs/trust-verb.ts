/**
 * `trust`: a person says that the settings file of a folder may name programs, keys, stores and packages.
 *
 * It opens no store and runs nothing: what it shows is the text that is trusted, by its digest.
 */
import { resolve } from "node:path";
import { SplashdownError } from "../../base/errors.js";
import { createNodeFileSystem } from "../../base/node-file-system.js";
import type { JsonValue } from "../../base/json.js";
import { hidePassword } from "../../base/store-address.js";
import { describeFailure } from "../../vault/private-file.js";
import type { Environment } from "../platform/environment.js";
import { systemClock, systemRandom } from "../platform/system-clock.js";
import { formatTime } from "../views/views.js";
import type { TrustedFolderView, TrustOptions, TrustView } from "../views/trust-views.js";
import { readFolderSettings, type FolderSettings } from "../trust/folder-settings.js";
import {
  listTrust,
  loadTrust,
  realFolder,
  removeTrust,
  saveTrust,
  type TrustRecord,
} from "../trust/trusted-folders.js";
import { requireOutsideStep } from "../services/step-refusal.js";

/** Errors: INSIDE_STEP; SETTING_INVALID for a file that cannot be read; USAGE_INVALID where there is none; STORE_UNWRITABLE. */
export async function trustFolder(environment: Environment, options: TrustOptions = {}): Promise<TrustView> {
  const place = { environment, fileSystem: createNodeFileSystem(), random: systemRandom };
  if (options.list === true) {
    const records = await listTrust(place);
    return { action: "list", folders: await Promise.all(records.map((record) => viewRecord(record, environment))) };
  }
  requireOutsideStep(environment, "trust");
  const folder = await realFolder(resolve(environment.workingFolder, options.folder ?? "."));
  if (options.remove === true) {
    const record = await loadTrust(place, folder);
    await whileWriting(() => removeTrust(place, folder));
    return { action: "remove", folders: record === undefined ? [] : [await viewRecord(record, environment)] };
  }
  const found = await readFolderSettings(folder, environment);
  if (found === undefined)
    throw new SplashdownError(
      "USAGE_INVALID",
      `there is no settings file in ${folder}: nothing there waits for trust`,
      {
        details: { verb: "trust", folder },
      },
    );
  const { file, digest } = found;
  const record = { folder, file, digest, decision: "trusted", at: formatTime(systemClock.nowMs()) } as const;
  await whileWriting(() => saveTrust(place, record));
  return { action: "trust", folders: [view(record, found)] };
}

async function whileWriting<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const reason = describeFailure(error);
    throw new SplashdownError("STORE_UNWRITABLE", `what is trusted cannot be remembered (${reason})`, {
      details: { reason },
      cause: error,
    });
  }
}

async function viewRecord(record: TrustRecord, environment: Environment): Promise<TrustedFolderView> {
  const found = await readFolderSettings(record.folder, environment).catch(() => undefined);
  return view(record, found);
}

function view(record: TrustRecord, found: FolderSettings | undefined): TrustedFolderView {
  const isSame = found?.digest === record.digest;
  return {
    folder: record.folder,
    file: record.file,
    digest: record.digest,
    state: isSame ? record.decision : "changed",
    settings: (found?.waiting ?? []).map(({ key, value }) => ({ key, value: shownOf(value) })),
    at: record.at,
  };
}

function shownOf(value: JsonValue): JsonValue {
  return typeof value === "string" ? hidePassword(value) : value;
}
