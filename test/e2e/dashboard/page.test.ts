/** The page of `splashdown dashboard` in a real browser: it opens at what matters, shows what happens, and acts. */
import { describe, expect, it } from "vitest";
import { NO_BROWSER, openDashboard } from "../../support/browser.js";
import { openPlace } from "../../support/command-place.js";
import { hold, release } from "../../support/held-steps.js";

const GATE = `workflow: {name: letter}
steps:
  - {name: ok, type: human_gate, prompt: "Send this?", options: [{value: send, label: Send it}, {value: drop, label: Drop it}]}
  - {name: sent, depends_on: [ok], value: done}
`;
const SLOW = `workflow: {name: walk}
steps:
  - {name: first, command: [sh, -c, "while [ -e hold-first ]; do sleep 0.02; done; echo '{}'"], effects: none}
  - {name: second, depends_on: [first], value: 2}
`;
const HOSTILE = `workflow: {name: hostile}
steps:
  - name: bad
    command: [sh, -c, "printf '\\\\033[31m<img src=x onerror=alert(1)>\\\\033[0m' >&2; exit 3"]
    effects: none
`;

describe.skipIf(NO_BROWSER !== undefined)("the page of the dashboard", () => {
  it("takes its token out of the address, opens at the open question, and the answer given there counts", async () => {
    const place = openPlace();
    await place.run(["run", place.write("w.yaml", GATE), "--task", "t"]);
    const { page, complaints } = await openDashboard(place);
    const card = page.locator(".question");
    await card.getByLabel("send").check();
    expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/inbox$/);
    expect(await card.locator(".command code").textContent()).toMatch(/^splashdown answer t \S+ send$/);
    await card.getByRole("button", { name: "Answer", exact: true }).click();
    await page.getByText("Nothing waits for you").waitFor();
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect((await place.run(["show", "t"])).stdout).toContain("dashboard:");
    expect(complaints).toEqual([]);
  });

  it("follows a task while it runs, without being loaded again", async () => {
    const place = openPlace();
    hold(place, "first");
    const running = place.start(["run", place.write("w.yaml", SLOW), "--task", "t"]);
    const { page, complaints } = await openDashboard(place);
    await page.getByRole("heading", { name: "t", exact: true }).waitFor();
    await page.keyboard.press("]");
    await page.getByRole("button", { name: "first, running" }).waitFor();
    await page.getByRole("img", { name: "second, to come" }).waitFor();
    release(place, "first");
    await page.getByRole("button", { name: "second, done" }).waitFor();
    expect((await running.done).code).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("shows what a program wrote as text, whatever it wrote, and opens at the failure", async () => {
    const place = openPlace();
    await place.run(["run", place.write("w.yaml", HOSTILE), "--task", "t"]);
    const { page, complaints } = await openDashboard(place);
    await page.getByRole("link", { name: "look into it" }).click();
    await page.locator(".step-panel").getByText("<img src=x onerror=alert(1)>").first().waitFor();
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.locator(".step-panel .notice").innerText()).not.toContain("[31m");
    expect(complaints).toEqual([]);
  });

  it("goes everywhere by the keyboard alone", async () => {
    const place = openPlace();
    await place.run(["run", place.write("w.yaml", GATE), "--task", "t"]);
    const { page } = await openDashboard(place);
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await page.keyboard.type("gt");
    await page.getByRole("row", { selected: false }).first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "t", exact: true }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(page.url()).toMatch(/#\/task\/t$/);
  });

  it("says in words within 20 seconds that the server is gone", async () => {
    const place = openPlace();
    await place.run(["run", place.write("w.yaml", GATE), "--task", "t"]);
    const { page, server } = await openDashboard(place);
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    server.child.kill("SIGKILL");
    await page.getByText("server has not been heard").waitFor({ timeout: 20_000 });
    expect(await page.getByRole("alert").first().textContent()).toContain("splashdown dashboard");
  });

  it("acts on nothing where the server only reads, and shows the commands", async () => {
    const place = openPlace();
    await place.run(["run", place.write("w.yaml", GATE), "--task", "t"]);
    const { page } = await openDashboard(place, ["--read-only"]);
    await page.locator(".question").getByLabel("send").check();
    await page.locator(".question .command").waitFor();
    expect(await page.getByRole("button", { name: "Answer", exact: true }).count()).toBe(0);
  });
});
