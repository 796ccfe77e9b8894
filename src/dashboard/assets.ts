/** The files of the page, read once: a request can name only what is in the list, so no path leads anywhere else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SplashdownError } from "../base/errors.js";
import { packageFile } from "../base/package-files.js";

export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  /** The same compressed with gzip. */
  readonly packed: Buffer;
}

export type Assets = ReadonlyMap<string, Asset>;

interface Listed {
  readonly path: string;
  readonly type: string;
}

/** The document that every page begins with. */
export const INDEX = "/index.html";

/** Shape: by path, `/index.html` among them. Errors: INTERNAL where the package has no page. */
export function loadAssets(folder = packageFile("dist/web")): Assets {
  try {
    const files = JSON.parse(readFileSync(join(folder, "files.json"), "utf8")) as readonly Listed[];
    return new Map(files.map(({ path, type }) => [`/${path}`, loadAsset(join(folder, path), type)]));
  } catch (error) {
    throw new SplashdownError("INTERNAL", "this package has no dashboard page: build it with npm run build", {
      cause: error,
    });
  }
}

function loadAsset(file: string, type: string): Asset {
  return { type, plain: readFileSync(file), packed: readFileSync(`${file}.gz`) };
}
