import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** The browser that pages are tried in; `CHROMIUM` names it where it isn't Debian's. */
export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** The same engine without a desktop's windows (Debian's `chromium-headless-shell`): a page in it takes a third of the processor time. */
const SHELL = process.env["CHROMIUM_SHELL"] ?? "/usr/bin/chromium-headless-shell";

/** It asks nobody for anything but the pages. */
export const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  // A service worker asks for its own files, which no page's setting covers.
  "--ignore-certificate-errors",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts a browser. `isDesktop`: what is tried needs notifications, or what a worker does while no page is open. */
export function startChromium({ isDesktop = false } = {}): Promise<Browser> {
  const executablePath = !isDesktop && existsSync(SHELL) ? SHELL : CHROMIUM;
  return chromium.launch({ executablePath, args: FLAGS });
}
