import type { House } from "../support/house.ts";
import { projectScreensOf } from "./project-screens.ts";

/** Each screen of the console by a name for its picture, and where it is. A new screen gets a line. */
export function screensOf(house: House): Record<string, string> {
  const { alerts, ann } = house;
  return {
    alerts: "/alerts",
    "alerts-acknowledged": "/alerts?state=acknowledged",
    "alerts-resolved": "/alerts?state=resolved",
    "alerts-silenced": "/alerts?state=silenced",
    "alerts-mine": "/alerts?mine=true",
    alert: `/a/${alerts.critical}`,
    "alert-resolved": `/a/${alerts.resolved}`,
    "sign-out": "/signout",
    welcome: "/welcome",
    system: "/system",
    "sign-in": "/system/sign-in",
    gateways: "/system/gateways",
    look: "/system/look",
    "look-dark": "/system/look?theme=dark",
    audit: "/audit",
    "audit-rule": "/audit?kind=rule&thing=errors",
    "audit-none": "/audit?thing=nothing-is-called-so&kind=rule",
    "alerts-none": "/alerts?q=nothing-is-called-so",
    lines: `/a/${alerts.critical}/lines`,
    search: "/search?q=payment",
    more: "/more",
    oncall: "/oncall",
    "oncall-schedule": "/oncall/payments/primary",
    "oncall-hand-over": "/oncall/payments/primary/hand-over",
    "oncall-layers": "/oncall/shop/weekend/layers",
    "oncall-gaps": "/oncall/shop/weekend",
    silences: "/silences",
    "silences-new": `/silences/new?alert=${alerts.error}`,
    "silences-plan": "/silences/new?kind=maintenance",
    silence: `/silences/${house.silence}`,
    heartbeats: "/heartbeats",
    "heartbeats-new": "/heartbeats/new?project=payments",
    "heartbeats-project": "/p/payments/heartbeats",
    heartbeat: `/heartbeats/${house.heartbeat}`,
    numbers: "/numbers",
    people: "/people",
    person: `/people/${ann.accountId}`,
    me: "/me",
    devices: "/me/devices",
    sessions: "/me/sessions",
    passkeys: "/me/passkeys",
    phone: "/me/phone",
    ...projectScreensOf(house),
    rules: "/p/payments/rules",
    "rules-new": "/p/shop/new-rule",
    rule: "/p/payments/rules/payments%20are%20down",
    "rule-drill": "/p/payments/rules/payments%20are%20down/drill",
    simulate: "/p/payments/rules/payments%20are%20down/ladder",
    "simulate-sweep": `/p/payments/rules/payments%20are%20down/ladder?silent=${ann.accountId}&sweep=14`,
    "simulate-moved": "/simulate",
    ladders: "/ladders",
    ladder: "/ladders/Ann%20alone",
    "ladder-new": "/new-ladder",
    wall: "/wall",
    missing: "/nothing",
  };
}

const DESK = { width: 900, height: 560 };

/** The pictures in docs/screens: names as `screens.ts` gives them, with the size that they are scaled to and cut at. */
export const picturesOfDocs: Readonly<Record<string, { width: number; height: number }>> = {
  "alerts-desk-light": { ...DESK, height: 320 },
  "alert-phone-dark": { width: 360, height: 740 },
  "oncall-schedule-desk-light": DESK,
  "project-connect-desk-light": { ...DESK, height: 480 },
  "report-desk-light": DESK,
  "rules-desk-light": { ...DESK, height: 320 },
  "wall-desk-dark": { ...DESK, height: 480 },
  "simulate-sweep-desk-light": DESK,
};

/** The films in docs/screens, which `films.ts` makes. */
export const filmsOfDocs = ["acknowledge-film", "rota-film"] as const;
