import type { Browser } from "playwright-core";
import { alertHolds } from "./alert.ts";
import { alertsHold } from "./alerts.ts";
import { chargeHolds } from "./charge.ts";
import { everyScreenOnADesk, everyScreenOnAPhone } from "./every-screen.ts";
import { firefoxHolds } from "./firefox.ts";
import { hostsHold } from "./hosts.ts";
import { journeysHold } from "./journeys.ts";
import { laddersHold } from "./ladders.ts";
import { newcomerHolds } from "./newcomer.ts";
import { paceHolds } from "./pace.ts";
import { panesHold } from "./panes.ts";
import { paperHolds } from "./paper.ts";
import { pocketHolds } from "./pocket.ts";
import { consoleHolds } from "./proofs.ts";
import { pushHolds } from "./push.ts";
import { quietHolds } from "./quiet.ts";
import { reportsHold } from "./reports.ts";
import { rotaHolds } from "./rota.ts";
import { twoPeopleHold } from "./two-people.ts";
import { wallHolds } from "./wall.ts";
import { waysInHold } from "./ways-in.ts";

/** What each screen of the console promises, as it is tried in a browser, the longest first. A new screen gets a line. */
export const consoleStories: Readonly<Record<string, (browser: Browser) => Promise<void>>> = {
  everyScreenOnAPhone,
  everyScreenOnADesk,
  firefoxHolds,
  consoleHolds,
  alertsHold,
  alertHolds,
  newcomerHolds,
  twoPeopleHold,
  pocketHolds,
  pushHolds,
  waysInHold,
  reportsHold,
  quietHolds,
  laddersHold,
  panesHold,
  paceHolds,
  hostsHold,
  journeysHold,
  chargeHolds,
  rotaHolds,
  wallHolds,
  paperHolds,
};

/** Those that need a desktop's browser: it shows notifications, wakes a worker when there is a network again, and has passkeys. */
export const DESKTOP_STORIES: ReadonlySet<string> = new Set([
  "pocketHolds",
  "pushHolds",
  "waysInHold",
]);
