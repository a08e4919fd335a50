/** Everything that a run has seen from outside the box. The verdict depends on nothing else. */
export interface RunEvidence {
  events: SentEvent[];
  /** Acknowledgements and resolves that were answered with 200. */
  verbs: Verb[];
  /** Reports on named alerts, in order for each name. */
  words: NamedWord[];
  /** The alerts of each name after each kill, and at the end. */
  looks: NamedLook[];
  /** Silences that were answered. */
  hushes: SilenceRecord[];
  /** Alerts with an acknowledgement that ends by itself. */
  rings: Ring[];
  /** Alerts whose rise to critical was answered, and the contact that then must have a page. */
  rises: { alertId: string; contactId: string }[];
  /** Alerts whose ladder was changed, and that was answered: each has been paged once. */
  climbs: Ring[];
  /** Alerts that a person acknowledged by the link in a page, with or without an answer. */
  pressed: string[];
  /** Requests that receivers got, in the order of `step`. */
  arrivals: Received[];
  /** Messages to the person whom a ladder pages. */
  told: SeenMessage[];
  /** Browsers of the ladder's other person. The first one stays. */
  devices: SeenDevice[];
  /** Pushes to these browsers. */
  pushes: SeenPush[];
  /** Both persons' pages, as the files have them at the end. */
  pages: SeenPage[];
  projects: ProjectPlan[];
  /** As the API returns them at the end. */
  alerts: SeenAlert[];
  /** The event number of each stored line, as often as it is stored. */
  lines: number[];
  /** Deliveries and executions that still wait after the drain. */
  pending: number;
  /** Deliveries that the box gave up. */
  givenUp: number;
  /** The damage that SQLite finds in the files; null: none. */
  damage: string | null;
  /** Unexpected ends of the process, and failed starts. */
  falls: string[];
  /** Answers that no planned fault explains (5xx). */
  oddAnswers: string[];
}

/** accepted: 202. refused: an answer that says the event wasn't accepted. unknown: no answer, so it may have been. */
export type Outcome = "accepted" | "refused" | "unknown";

export interface SentEvent {
  n: number;
  project: string;
  outcome: Outcome;
}

export interface NamedWord {
  name: string;
  status: "firing" | "resolved";
  /** The number of its firing, from 1. */
  instance: number;
  outcome: Outcome;
}

export interface NamedLook {
  name: string;
  /** All reports on it until now. */
  said: NamedWord[];
  /** The instances of its alerts that aren't resolved. */
  standing: number[];
}

export interface Verb {
  verb: "ack" | "resolve";
  alertId: string;
}

/** A host that was silenced. `until`: the earliest end in Unix seconds. */
export interface SilenceRecord {
  host: string;
  /** What must be sent at the end: the opening, or that its acknowledgement was taken back during the silence. */
  owes: "alert.opened" | "alert.renotified";
  until: number;
}

export interface Ring {
  alertId: string;
  /** When it rings, in Unix seconds. */
  until: number;
}

export interface Received {
  /** The endpoint and its project. */
  endpoint: string;
  eventId: string;
  alertId: string;
  event: string;
  /** The box's timestamp, in Unix seconds. */
  timestamp: number;
  /** SHA-256 of the body's bytes. */
  digest: string;
  /** A counter over all receivers. */
  step: number;
  /** The counter when a 2xx was written; null where none was. */
  acceptedAt: number | null;
}

export interface SeenMessage {
  purpose: string;
  alertIds: string[];
  /** The code in a message that verifies the contact. */
  code: string | null;
  /** The path of the acknowledge link; null where the message is no page. */
  link: string | null;
  /** Whether a 2xx was written. */
  wasTaken: boolean;
}

/** A browser that was subscribed. */
export interface SeenDevice {
  /** null: the subscription wasn't answered. */
  contactId: string | null;
  /** Whether its revocation was requested. */
  isLeaving: boolean;
  /** When that was answered, in monotonic milliseconds; null: it wasn't. */
  revokedAt: number | null;
}

export interface SeenPush {
  /** The number of its browser. */
  device: number;
  /** When it arrived, in monotonic milliseconds. */
  at: number;
  /** Whether its browser could decrypt it. */
  isRead: boolean;
  /** Whether it is a page; else it reports what happened to alerts. */
  isPage: boolean;
  alertIds: string[];
  /** Alerts that it counts without naming them. */
  more: number;
  /** Whether a 2xx was written. */
  wasTaken: boolean;
}

export interface SeenPage {
  alertId: string;
  contactId: string;
  status: string;
}

export interface ProjectPlan {
  name: string;
  rules: RulePlan[];
  /** Names of its endpoints, as in arrivals. Each gets every event. */
  endpoints: string[];
  /** The endpoint that its runbook action calls when an alert opens; null: no action. */
  action: string | null;
  /** Whether senders name its alerts. They count firings then, not events. */
  named: boolean;
  /** Whether its alerts are only silenced, snoozed and unacknowledged. */
  quiet: boolean;
}

export interface RulePlan {
  name: string;
  /** Events with the same key that open an alert. */
  count: number;
  /** How many keys its events have. */
  keys: number;
  /** The tag that its events must have; null: none. */
  tag: string | null;
  /** Whether its ladder's first step is due at the opening. */
  ladder: boolean;
}

export interface SeenAlert {
  id: string;
  project: string;
  rule: string;
  state: string;
  count: number;
  level: number;
  escalation_level: number;
  /** The sender's name for it. */
  dedup_key: string | null;
  identifiers: Readonly<Record<string, string>>;
}
