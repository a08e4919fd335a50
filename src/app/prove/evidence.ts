/** All that a run has seen from outside the box: what the verdict rests on, and nothing else. */
export interface RunEvidence {
  /** Every event that was sent. */
  events: SentEvent[];
  /** Acknowledgements and resolves that were answered 200. */
  verbs: Verb[];
  /** What senders said of alerts that they name, in order for each name. */
  words: NamedWord[];
  /** What stood of each name after each kill, and in the end. */
  looks: NamedLook[];
  /** Silences that were answered. */
  hushes: Hush[];
  /** Alerts whose acknowledgement was answered to end. */
  rings: Ring[];
  /** Every request that came in at a receiver, in the order of `step`. */
  arrivals: Received[];
  /** Every message that came in for the person whom a ladder pages. */
  told: SeenMessage[];
  /** Browsers of the other person whom a ladder pages; the first stays. */
  devices: SeenDevice[];
  /** Every push that came in for one of them. */
  pushes: SeenPush[];
  /** Both persons' pages, as the files have them in the end. */
  pages: SeenPage[];
  projects: ProjectPlan[];
  /** As the API shows them in the end. */
  alerts: SeenAlert[];
  /** The number of each stored line's event, as often as it is stored. */
  lines: number[];
  /** Deliveries and executions still waiting after the drain. */
  pending: number;
  /** Deliveries that the box gave up. */
  givenUp: number;
  /** What SQLite finds wrong with the files; null for nothing. */
  damage: string | null;
  /** Ends of the process that nobody asked for, starts that failed. */
  falls: string[];
  /** Answers that no fault explains (5xx). */
  oddAnswers: string[];
}

/** accepted: 202. refused: an answer that says it isn't taken. unknown: no answer, so either may be. */
export type Outcome = "accepted" | "refused" | "unknown";

export interface SentEvent {
  n: number;
  project: string;
  outcome: Outcome;
}

export interface NamedWord {
  name: string;
  status: "firing" | "resolved";
  /** Which firing of it, from 1. */
  instance: number;
  outcome: Outcome;
}

export interface NamedLook {
  name: string;
  /** All that had been said of it. */
  said: NamedWord[];
  /** The instances of its alerts that aren't resolved. */
  standing: number[];
}

export interface Verb {
  verb: "ack" | "resolve";
  alertId: string;
}

/** A host that was silenced before it failed; until when at least, in Unix seconds. */
export interface Hush {
  host: string;
  until: number;
}

export interface Ring {
  alertId: string;
  /** When it ends, in Unix seconds. */
  until: number;
}

export interface Received {
  /** Which endpoint of which project it was sent to. */
  endpoint: string;
  eventId: string;
  alertId: string;
  event: string;
  /** When the box said it, in Unix seconds. */
  timestamp: number;
  /** SHA-256 of the body's bytes. */
  digest: string;
  /** One counter over all receivers. */
  step: number;
  /** The counter when a 2xx was written; null where none was. */
  acceptedAt: number | null;
}

export interface SeenMessage {
  purpose: string;
  alertIds: string[];
  /** The digits of a message that proves the contact. */
  code: string | null;
  /** Whether a 2xx was written. */
  wasTaken: boolean;
}

/** A browser that was subscribed. */
export interface SeenDevice {
  /** null: it wasn't answered that it is subscribed. */
  contactId: string | null;
  /** Whether its revocation was asked for. */
  isLeaving: boolean;
  /** When that was answered, in monotonic milliseconds; null: it wasn't. */
  revokedAt: number | null;
}

export interface SeenPush {
  /** The number of its browser. */
  device: number;
  /** When it came in, in monotonic milliseconds. */
  at: number;
  /** Whether its browser could open it. */
  isRead: boolean;
  /** Whether it pages; else it says what became of alerts. */
  isPage: boolean;
  alertIds: string[];
  /** How many more it counts without naming them. */
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
  /** Names of its endpoints, as arrivals have them; each hears of every event. */
  endpoints: string[];
  /** The endpoint that its runbook action calls when an alert opens, where it has one. */
  action: string | null;
  /** Whether its alerts are those that their senders name: they count firings and not events. */
  named: boolean;
  /** Whether its alerts are silenced, snoozed and given back, and nothing else is done to them. */
  quiet: boolean;
}

export interface RulePlan {
  name: string;
  /** Events of one key that open an alert. */
  count: number;
  /** How many keys its events have. */
  keys: number;
  /** Whether its ladder's first step is due with the opening. */
  ladder: boolean;
}

export interface SeenAlert {
  id: string;
  project: string;
  rule: string;
  state: string;
  count: number;
  escalation_level: number;
  /** The name that its sender gave it. */
  dedup_key: string | null;
  identifiers: Readonly<Record<string, string>>;
}
