/**
 * What loading a workflow reads of the world: files, variables, modules. It is noted by digest, so that a resume can tell
 * that nothing has changed without parsing and checking all of it again, which takes longer than the rest of the resume.
 *
 * A workflow of which a module was imported has no such note: what a module does its file alone does not tell.
 */
import { pathToFileURL } from "node:url";
import { sha256Hex } from "../../base/digest.js";
import { SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import { looksLikeWorkflow, refuseModule, requireBelow, type Confinement } from "../services/confinement.js";
import type { LoaderDeps } from "../../definition/loader.js";
import type { ReadFrom } from "../../definition/model/read-from.js";
import { readBoundedFile } from "../../base/bounded-file.js";

/** A variable of the environment, by name. */
type LookUp = (name: string) => string | undefined;

export interface NotedDeps {
  readonly deps: LoaderDeps;
  /** Of every file that was read, whether it looks like a workflow; only where files are confined. */
  readonly isWorkflow: ReadonlyMap<string, boolean>;
  /** What was read through them so far; `undefined` where a digest of it would not tell everything. */
  readonly noted: () => ReadFrom | undefined;
}

/**
 * The real files, modules and environment; under a confinement, those that lie within.
 *
 * Errors of reading: Node's own; WORKFLOW_INVALID, WORKFLOW_OUTSIDE, WORKFLOW_MODULE.
 */
export function createNotedDeps(lookUp: LookUp, confine?: Confinement): NotedDeps {
  const isWorkflow = new Map<string, boolean>();
  const files = new Map<string, string>();
  const variables = new Map<string, string | undefined>();
  let hasModules = false;
  return {
    deps: {
      readText: async (path) => {
        const place = confine === undefined ? path : await requireBelow(confine.root, path);
        const bytes = await readBoundedFile(place, { sizeBytesMax: LIMITS.workflowFileBytesMax, mayBePipe: true });
        files.set(path, sha256Hex(bytes));
        if (confine !== undefined) isWorkflow.set(path, looksLikeWorkflow(bytes.toString("utf8")));
        return decodeText(path, bytes);
      },
      environment: (name) => {
        const value = lookUp(name);
        variables.set(name, digestOf(value));
        return value;
      },
      importModule: async (path) => {
        hasModules = true;
        if (confine !== undefined) await requireBelow(confine.root, path);
        if (confine?.mayLoadModules === false) refuseModule(path);
        return import(pathToFileURL(path).href) as Promise<unknown>;
      },
    },
    isWorkflow,
    noted: () =>
      hasModules || files.size === 0
        ? undefined
        : {
            files: [...files].map(([file, sha256]) => ({ file, sha256 })),
            variables: [...variables].map(([name, sha256]) => ({ name, ...(sha256 === undefined ? {} : { sha256 }) })),
          },
  };
}

/** True when every file and every variable is as it was. Shape: a file that is gone or may not be read is another one. */
export async function isReadTheSame({ files, variables }: ReadFrom, lookUp: LookUp): Promise<boolean> {
  if (!variables.every(({ name, sha256 }) => digestOf(lookUp(name)) === sha256)) return false;
  for (const { file, sha256 } of files) {
    const bytes = await readBoundedFile(file, { sizeBytesMax: LIMITS.workflowFileBytesMax }).catch(() => undefined);
    if (bytes === undefined || sha256Hex(bytes) !== sha256) return false;
  }
  return true;
}

function digestOf(value: string | undefined): string | undefined {
  return value === undefined ? undefined : sha256Hex(value);
}

/** Errors: WORKFLOW_INVALID: another encoding would change the meaning of a file without a word. */
function decodeText(path: string, bytes: Uint8Array): string {
  const text = decodeUtf8(path, bytes);
  if (text.length <= LIMITS.workflowFileBytesMax) return text;
  throw new SplashdownError("WORKFLOW_INVALID", `${path} is larger than ${LIMITS.workflowFileBytesMax} bytes`, {
    details: { file: path },
  });
}

function decodeUtf8(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new SplashdownError("WORKFLOW_INVALID", `${path} is not UTF-8; save it in that encoding`, {
      details: { file: path, faults: [] },
      cause: error,
    });
  }
}
