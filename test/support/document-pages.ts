/** The Markdown pages of this project: their fenced blocks, links and headings. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PROJECT_FOLDER = join(import.meta.dirname, "..", "..");
/** Folders that hold pages; of the project's own folder only the pages that stand in it. */
const FOLDERS = ["docs", "src", "examples", "scripts", "proof"];
/** Made by the build, so they need not be there. */
const MADE = "docs/reference/";

export interface Block {
  readonly language: string;
  /** What stands behind the language: a file's name, or `all`. */
  readonly about: string;
  readonly text: string;
  /** Where the text lies in the page. */
  readonly from: number;
  readonly to: number;
}

/** Shape: paths below the project's folder, with `/`, in the order of their names. */
export function listPages(): string[] {
  const isPage = (path: string): boolean =>
    path.endsWith(".md") && !path.includes("node_modules/") && !path.startsWith(MADE);
  const below = FOLDERS.flatMap((folder) =>
    readdirSync(join(PROJECT_FOLDER, folder), { recursive: true }).map((name) => `${folder}/${String(name)}`),
  );
  return [...readdirSync(PROJECT_FOLDER), ...below].filter(isPage).toSorted();
}

export function readPage(path: string): string {
  return readFileSync(join(PROJECT_FOLDER, path), "utf8");
}

/** True for a file or folder of the project, and for a page that the build makes. */
export function isInProject(path: string): boolean {
  return path.startsWith(MADE) || existsSync(join(PROJECT_FOLDER, path));
}

/** The fenced blocks of a page, in order. */
export function findBlocks(page: string): Block[] {
  return [...page.matchAll(/^```(\S+)(?: (.*))?\n([\s\S]*?)^```$/gm)].map((match) => {
    const [whole, language = "", about = "", text = ""] = match;
    const from = match.index + whole.length - text.length - 3;
    return { language, about, text, from, to: from + text.length };
  });
}

/** What the links and pictures of a page point at, fenced blocks and code left out. */
export function findLinks(page: string): string[] {
  const prose = page.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "code");
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  const pictures = [...prose.matchAll(/<img[^>]* src="([^"]+)"/g)].map(([, target = ""]) => target);
  return [...links, ...pictures];
}

/** The anchors of a page, made of its headings as GitHub makes them. */
export function findAnchors(page: string): Set<string> {
  const prose = page.replaceAll(/^```[\s\S]*?^```$/gm, "");
  return new Set([...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => toAnchor(heading)));
}

function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, "")
    .replaceAll(" ", "-");
}
