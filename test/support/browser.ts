/** A real browser that looks at the dashboard of a place. */
import { existsSync } from "node:fs";
import { chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { RunningCommand } from "./built-program.js";
import type { CommandPlace } from "./command-place.js";
import { until } from "./real-clock.js";

const BROWSER = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);

/** Why no browser can be had; `undefined` where one is there. */
export const NO_BROWSER = BROWSER === undefined ? "Debian's chromium-headless-shell is not installed" : undefined;

export interface Watched {
  readonly page: Page;
  readonly server: RunningCommand;
  /** What the page could not do, as its console and its errors say. */
  readonly complaints: readonly string[];
}

/** Starts `splashdown dashboard` and opens its address. */
export async function openDashboard(place: CommandPlace, flags: readonly string[] = []): Promise<Watched> {
  const server = place.start(["dashboard", "--json", ...flags]);
  onTestFinished(() => void server.child.kill("SIGKILL"));
  const address = (): string | undefined => /"(http:[^"]+#token=[^"]+)"/.exec(server.stdout())?.[1];
  await until("the address is printed", () => address() !== undefined);
  const browser = await chromium.launch({ executablePath: BROWSER ?? "", args: ["--no-sandbox"] });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(address() ?? "");
  return { page, server, complaints };
}
