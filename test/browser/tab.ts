/** One tab of the browser, and all that a calm page wouldn't do in it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions, CDPSession, Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** How long what has to come is waited for, milliseconds: nothing needs more, on however busy a machine. */
export const BROWSER_PATIENCE_MS = 30_000;

export interface Tab {
  page: Page;
  /** Everything that a calm page doesn't do. */
  noise: string[];
  /** Evaluates over the debugger, which the page's policy doesn't bind. */
  run(expression: string): Promise<unknown>;
  close(): Promise<void>;
}

/** A desk whose window has room for a list or for what is chosen in it, not for both: what most stories look at. */
const ONE_PANE = { width: 1200, height: 720 };

/** What a frame without rights says to the scripts that tests put into every frame. */
const OWN_SCRIPT = /^Blocked script execution in '[^']+' because the document's frame is sandboxed/;

export async function open(browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ viewport: ONE_PANE, ...options });
  const page = await context.newPage();
  const noise: string[] = [];
  page.on("console", (said) => {
    if (!OWN_SCRIPT.test(said.text())) noise.push(`console ${said.type()}: ${said.text()}`);
  });
  page.on("pageerror", (error) => noise.push(`error: ${error.message}`));
  page.on("popup", (popup) => noise.push(`popup: ${popup.url()}`));
  page.on("dialog", (dialog) => {
    noise.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  page.on("request", (request) => {
    if (!request.isNavigationRequest()) noise.push(`request: ${request.url()}`);
  });
  await page.exposeFunction("trap", () => noise.push("a vector ran"));
  const debug = await context.newCDPSession(page);
  return { page, noise, run: (expression) => run(debug, expression), close: () => context.close() };
}

async function run(debug: CDPSession, expression: string): Promise<unknown> {
  const { result, exceptionDetails } = await debug.send("Runtime.evaluate", {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
  return result.value;
}

/** The browser itself says on the console that a refusal is one. */
export function withoutStatus(noise: readonly string[]): string[] {
  return noise.filter((line) => !/status of (?:401|404|429) /.test(line));
}

/** Rules of the checker that another colour scheme can break: the rest look at what stays the same. */
export const COLOURS = ["color-contrast", "link-in-text-block"];
/**
 * Looks at a page by day and, without loading it again, by night: by then the checker only by what colours can break. Nothing is
 * found, and nothing is too wide. `picture`: where its pictures go, without the scheme's name.
 */
export async function isCalmByDayAndNight(tab: Tab, picture: string): Promise<void> {
  const { page } = tab;
  for (const colorScheme of ["light", "dark"] as const) {
    const shown = `${picture}-${colorScheme}`;
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${shown}.png`, fullPage: true });
    const rules = colorScheme === "dark" ? COLOURS : [];
    assert.deepEqual(await findings(tab, rules), [], shown);
    const over = await tab.run("document.documentElement.scrollWidth - innerWidth");
    assert.ok(Number(over) <= 0, `${shown} is ${over} px too wide`);
  }
  await page.emulateMedia({ colorScheme: "light" });
}
/** Those that another width or larger text can. */
export const SIZES = ["target-size", "scrollable-region-focusable"];

/** What the accessibility checker finds, best practices included; only by these rules of its where they are named. */
export async function findings({ run }: Tab, rules: readonly string[] = []): Promise<string[]> {
  if ((await run("typeof axe")) === "undefined") await run(`${AXE};0`);
  // It is off by itself: a rule of WCAG 2.2.
  const all = { rules: { "target-size": { enabled: true } } };
  const only = rules.length === 0 ? all : { runOnly: { type: "rule", values: rules } };
  // Nobody reads what it says of elements that are well, or where they are. It isn't put into frames: asking them makes a frame without rights complain.
  const wanted = { ...only, resultTypes: ["violations"], selectors: false, iframes: false };
  const found = await run(`axe.run(document, ${JSON.stringify(wanted)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + " " + html)))`);
  return found as string[];
}
