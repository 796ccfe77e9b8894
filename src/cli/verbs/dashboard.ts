/** `splashdown dashboard`: tasks in the browser, served to this machine alone. */
import { spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { encodeBase64Url } from "../../base/digest.js";
import { messageOf, SplashdownError } from "../../base/errors.js";
import { parseJsonObject } from "../../base/json.js";
import { readVersion } from "../../base/package-files.js";
import { hidePassword } from "../../base/store-address.js";
import { readBoundedFile } from "../../base/bounded-file.js";
import { readEnvironment } from "../../runtime/platform/environment.js";
import { systemClock, systemRandom } from "../../runtime/platform/system-clock.js";
import { CHILD_FLAG, startInBackground } from "../command/detach.js";
import { repeatFlagsIn } from "../command/next-command.js";
import { describeStatuses, withSplashdown, type VerbContext } from "../command/verb.js";
import type { CliDeps, GlobalOptions } from "../terminal/deps.js";

const HELP = `
The page shows what every task does, why and at what price, and lets you answer, pause, stop, guide, resume, go back and
fork. The server listens on this machine alone; the address that is printed holds a token, without which nothing is served.
Tasks continue when the dashboard ends.

Behind a reverse proxy that speaks TLS name the host that browsers see, and keep the token in a file of mode 0600:
  splashdown dashboard --port 4870 --allow splashdown.example.org --token-file ~/.splashdown-token
`;

interface DashboardFlags {
  readonly port?: number;
  readonly open?: boolean;
  readonly readOnly?: boolean;
  readonly allow?: readonly string[];
  readonly tokenFile?: string;
}

const TOKEN_BYTES = 24;
const TOKEN = /^[\w-]{32,}$/;
const TOKEN_FILE_BYTES_MAX = 4096;

export function registerDashboard(program: Command, deps: CliDeps): void {
  program
    .command("dashboard")
    .description("show all tasks in the browser, live, and act on them there")
    .option("--port <n>", "listen on this port (default: a free one)", parsePort)
    .option("--open", "open the page in a browser; where a dashboard of this store runs already, that one")
    .option("--read-only", "serve nothing that changes a task")
    .option("--allow <host...>", "also answer under this host name, for a reverse proxy; needs --token-file")
    .option("--token-file <file>", "take the token from this file instead of a new one at each start")
    .addHelpText("after", HELP)
    .addHelpText(
      "after",
      describeStatuses([
        [0, "--open found a dashboard that runs already"],
        [2, "a flag is not valid, or the port is taken"],
        [130, "ended with Ctrl+C (143: by SIGTERM); tasks keep running"],
      ]),
    )
    .action((flags: DashboardFlags, command: Command) => runDashboard(flags, { command, deps }));
}

async function runDashboard(
  flags: DashboardFlags,
  call: { readonly command: Command; readonly deps: CliDeps },
): Promise<void> {
  if (flags.allow !== undefined && flags.tokenFile === undefined)
    throw new SplashdownError("USAGE_INVALID", "--allow opens the dashboard to others and needs --token-file");
  await withSplashdown(call, async (context) => {
    const { splashdown, options } = context;
    const { settings } = await splashdown.config();
    const configured = settings.find(({ key }) => key === "store")?.value;
    const store = hidePassword(typeof configured === "string" ? configured : (options.store ?? ""));
    const known = flags.open === true ? await findRunning(store) : undefined;
    if (known !== undefined) {
      context.print({ url: known }, ({ url }) => `a dashboard runs already: ${url}`);
      return openBrowser(known);
    }
    await serve(flags, context, store);
  });
}

async function serve(flags: DashboardFlags, { splashdown, options, deps, log, print }: VerbContext, store: string) {
  const { openDashboard, describeSession } = await import("../../dashboard/server.js");
  const { loadAssets } = await import("../../dashboard/assets.js");
  const { Starts } = await import("../../runtime/platform/background-starts.js");
  const environment = readEnvironment();
  const token = flags.tokenFile === undefined ? makeToken() : await readToken(flags.tokenFile);
  const readOnly = flags.readOnly === true;
  const starts = new Starts(systemClock, { start: (words) => startResume(words, options) });
  const running = await openDashboard({
    splashdown,
    clock: systemClock,
    log,
    assets: loadAssets(),
    token,
    readOnly,
    port: flags.port ?? 0,
    allowedHosts: flags.allow ?? [],
    by: `dashboard:${environment.user}`,
    session: describeSession({ version: readVersion(), store, user: environment.user, readOnly }),
    resume: (task, words) => starts.start(task, ["resume", ...words, "--", task]),
    complete: (view) => repeatFlagsIn(view, options),
  });
  const url = `http://127.0.0.1:${running.port}/#token=${token}`;
  const note = await keepNote({ url, store, pid: process.pid });
  print({ url, pid: process.pid }, () => `dashboard: ${url}\n  ends with Ctrl+C; tasks keep running`);
  if (flags.open === true) openBrowser(url);
  await whenAborted(deps.signal);
  await running.close();
  await note.remove();
}

/** Goes on with a task in a process of its own, with the flags that this command was given. */
function startResume([verb = "", ...rest]: readonly string[], { store, config }: GlobalOptions) {
  const place = [
    ...(store === undefined ? [] : [`--store=${store}`]),
    ...(config === undefined ? [] : [`--config=${config}`]),
  ];
  return startInBackground({ words: [...place, "--json", verb, CHILD_FLAG, ...rest] });
}

function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function makeToken(): string {
  return encodeBase64Url(systemRandom.bytes(TOKEN_BYTES));
}

/** Errors: USAGE_INVALID for a file that cannot be read, or a token that is short. */
async function readToken(file: string): Promise<string> {
  let token: string;
  try {
    token = (await readBoundedFile(file, { sizeBytesMax: TOKEN_FILE_BYTES_MAX })).toString("utf8").trim();
  } catch (error) {
    throw new SplashdownError("USAGE_INVALID", `--token-file ${file}: ${messageOf(error)}`);
  }
  if (TOKEN.test(token)) return token;
  throw new SplashdownError("USAGE_INVALID", `--token-file ${file}: a token has at least 32 letters, digits, - or _`);
}

interface RunningNote {
  readonly url: string;
  readonly store: string;
  readonly pid: number;
}

function noteFile(): string {
  return join(readEnvironment().stateFolder, "dashboard.json");
}

/** For `--open` of the same person, who alone may read it. */
async function keepNote(note: RunningNote): Promise<{ readonly remove: () => Promise<void> }> {
  const file = noteFile();
  await mkdir(readEnvironment().stateFolder, { recursive: true, mode: 0o700 });
  await rm(file, { force: true });
  await writeFile(file, JSON.stringify(note), { mode: 0o600, flag: "wx" }).catch(() => undefined);
  return { remove: () => rm(file, { force: true }) };
}

/** The address of a dashboard of this store that answers. */
async function findRunning(store: string): Promise<string | undefined> {
  const note = parseJsonObject(await readFile(noteFile(), "utf8").catch(() => ""));
  const url = note?.["url"];
  if (typeof url !== "string" || note?.["store"] !== store) return undefined;
  const [address = "", token = ""] = url.split("#token=");
  const answer = await fetch(new URL("/api/session", address), {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(2000),
  }).catch(() => undefined);
  return answer?.ok === true ? url : undefined;
}

const OPENERS: Partial<Readonly<Record<string, readonly string[]>>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Where no browser can be opened the address has been printed all the same. */
function openBrowser(url: string): void {
  const [program = "xdg-open", ...words] = OPENERS[readEnvironment().platform] ?? [];
  const child = spawn(program, [...words, url], { detached: true, stdio: "ignore" });
  child.on("error", () => undefined);
  child.unref();
}

/** Errors: USAGE_INVALID. */
function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new SplashdownError("USAGE_INVALID", `--port takes a number from 1 to 65535, not ${JSON.stringify(text)}`);
}
