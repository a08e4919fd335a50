import type { AlertRow } from "../../../core/alerts/alert.ts";
import type { ReachEntry } from "../../../core/alerts/reach-report.ts";
import type { SilenceAnswer } from "../../../core/quiet/silence.ts";
import type { PageCall } from "../screen.ts";
import type { Face, Faces, Proof } from "../ui/faces.ts";

/** People and alerts that nobody has: what the components of the page are shown with. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** One for each hue; the dots in turn. */
const PEOPLE: readonly [name: string, proof: Proof][] = [
  ["Priya Raman", "proved"],
  ["Jonas Weber", "stale"],
  ["Mei Tanaka", "never"],
  ["Sam O’Connor", "none"],
  ["Lucía Ortiz", "proved"],
  ["Ada Byron", "proved"],
  ["Noor Haddad", "stale"],
  ["Tom Ek", "never"],
];

export function sampleFaces({ now }: Pick<PageCall, "now">): readonly Face[] {
  return PEOPLE.map(([name, proof], at) => ({
    id: `sample-${at + 1}`,
    name,
    initials: name
      .split(" ")
      .map((word) => word.charAt(0))
      .join(""),
    hue: at + 1,
    proof,
    provedAt: proof === "proved" ? now - 2 * 3600 : proof === "stale" ? now - 9 * 86_400 : null,
  }));
}

export const sampleFaceOf =
  (faces: readonly Face[]): Faces =>
  (account) =>
    faces.find(({ id }) => id === account) ?? (faces[0] as Face);

const NONE = {
  project_id: 0,
  rule_id: 0,
  alert_key: "",
  template_id: "",
  investigate: 0,
  escalation_level: 0,
  page_accounts: "[]",
  updated_seq: 0,
  acked_at: null,
  acked_by: null,
  resolved_at: null,
  step: 0,
  step_at: null,
  repeat_at: null,
  renotify_at: null,
  renotified: 0,
  quiet_at: null,
  due_at: null,
  dedup_key: null,
  room: null,
  instance: null,
  expires_at: null,
  promised: null,
  extra: null,
  silenced_by: null,
  held_until: null,
  untold: 0,
  wakes_at: null,
  undelivered_at: null,
  source: null,
  drill: 0,
  labels: null,
  varied: null,
  varied_more: null,
  title: null,
} satisfies Partial<AlertRow>;

export function sampleAlert({ now }: Pick<PageCall, "now">, of: Partial<AlertRow>): AlertRow {
  return {
    ...NONE,
    id: 1,
    project: "payments",
    rule: "payments failing",
    state: "open",
    level: 500,
    count: 26,
    template: "payment intent <*> declined by provider <*>: upstream connect error",
    last_message: "payment intent pi_3QZ81k declined by provider adyen: upstream connect error",
    identifiers: JSON.stringify({ provider: "adyen", region: "eu-west-1" }),
    first_seen: now - 4 * MINUTE,
    opened_at: now - 4 * MINUTE,
    last_seen: now - 12,
    ladder_from: now - 4 * MINUTE,
    ...of,
  };
}

export function sampleReach(of: Partial<ReachEntry>): ReachEntry {
  return {
    account_id: null,
    integration_id: null,
    name: null,
    reason: "shown",
    via: "phone",
    address: "Pixel 8",
    event: "alert.opened",
    outcome: null,
    step: 1,
    due_at: null,
    at: null,
    after: null,
    attempts: 1,
    error: null,
    together: 1,
    by: null,
    until: null,
    ...of,
  };
}

/** So many events a minute in the last hour, newest last. */
export const sampleMinutes: readonly number[] = Array.from({ length: 60 }, (_, at) =>
  at % 17 === 3 ? 1 : Math.max(0, at - 48),
);

export function sampleSilence(
  { now, who }: Pick<PageCall, "now" | "who">,
  state: SilenceAnswer["state"],
): SilenceAnswer {
  const from = { active: now - HOUR, planned: now + HOUR, over: now - 9 * HOUR }[state];
  return {
    id: `sample-${state}`,
    project: "payments",
    match: {
      rule: "payments failing",
      template_id: null,
      identifiers: {},
      sources: [],
      below_level: null,
    },
    conditions: [],
    labels: [],
    critical: state === "active",
    all: false,
    kind: state === "planned" ? "maintenance" : "silence",
    name: state === "planned" ? "weekly update" : "",
    reason: "disk swap",
    tell_author: false,
    starts_at: from,
    ends_at: from + 2 * HOUR,
    repeat: "none",
    timezone: "UTC",
    repeat_until: null,
    state,
    until: state === "active" ? from + 2 * HOUR : null,
    next_at: state === "planned" ? from : null,
    holds: 0,
    managed: false,
    created_by: who.accountId,
    created_at: from,
  };
}
