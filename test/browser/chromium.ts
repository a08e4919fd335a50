/** The browser that pages are tried in; `CHROMIUM` names it where it isn't Debian's. */
export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

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
