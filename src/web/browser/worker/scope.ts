import type { DrawnPlace } from "./drawn-page.ts";

/* Where this worker is and what it was bundled with. */

declare const BUNDLED: { hash: string; files: string[] };

export const worker = self as unknown as ServiceWorkerGlobalScope;

export const { hash: ownHash, files: ownFiles } = BUNDLED;

/** What stands before every address of the box: "" or "/box". */
export const ownBase: string = new URL(worker.registration.scope).pathname.replace(/\/$/, "");

export const fileAddress = (name: string): string => `${ownBase}/assets/${ownHash}/${name}`;

export const drawnPlace = (): DrawnPlace => ({
  base: ownBase,
  hash: ownHash,
  now: Date.now(),
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});
