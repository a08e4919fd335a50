import type { Reader } from "../../ground/store/store.ts";
import type { Credentials } from "./credentials.ts";
import type { Paged } from "./relay-silence.ts";
import type { Verdict } from "./retry.ts";
import type { Tried } from "./tried.ts";

/** An integration as a sender needs it. */
export interface IntegrationRow {
  id: string;
  project_id: number;
  name: string;
  /** Its kind of channel. */
  type: string;
  url: string;
  sealed: string | null;
  enabled: number;
  relay: number;
  consecutive_failures: number;
  failing_since: number | null;
  last_error: string | null;
  /** When it last took something, to the minute. */
  worked_at: number | null;
  /** Its own texts, in Mustache; empty: the usual ones. */
  title_template: string;
  body_template: string;
  /** Openings of a minute that it is told one by one, 0: all; null: it is told each anyway. */
  storm_threshold: number | null;
}

/** Where an integration's attempts go, and as whom: tells one address from another, and is shown to nobody. */
export function addressOf({ url, sealed }: Pick<IntegrationRow, "url" | "sealed">): string {
  return `${url}\n${sealed}`;
}

/** What goes to a channel: the event's fixed body and the second to sign it with. */
export interface Outgoing {
  eventId: string;
  event: string;
  body: string;
  /** JSON of what is told beyond the body (`EventNames`); null where nothing is. */
  said: string | null;
  signedAt: number;
}

/** How an attempt ended, and what the channel learned on the way. */
export interface Sent {
  /** `dropped`: this row goes nowhere from here, and why. */
  verdict: Verdict | { readonly kind: "dropped"; readonly error: string };
  /** Credentials that changed (a group became another chat): stored in place of the old ones. */
  learned?: Credentials;
  /** Whom the relay paged, where it said so. */
  paged?: Paged;
  /** The fault lies on this side, so the endpoint's streak is left as it is. */
  ours?: true;
  /** What was sent and answered, where anything was. */
  tried?: Tried;
}

/** The one way from an integration to its receiver: real deliveries and test-fires take it alike. */
export interface ChannelSender {
  /** Sends the message through the integration's channel. Never throws. */
  send(integration: IntegrationRow, message: Outgoing): Promise<Sent>;
  /** Whether a kind of channel can be test-fired here: a box pushes to no phone by itself (contract §17, rule 6). */
  canTest(kind: string): boolean;
}

/** What `last_error` says where a stored credential can't be opened (contract §10). */
export const UNREADABLE = "sealed credential unreadable: enter it again";

/** A line of an alert's history about one of its deliveries or executions. */
export interface OutboxEntry {
  kind: string;
  detail: Record<string, unknown>;
}

const INTEGRATION = `SELECT id, project_id, name, type, url, sealed, enabled, relay, consecutive_failures, failing_since, last_error, worked_at,
    title_template, body_template, storm_threshold FROM integrations WHERE id = ?`;

/** null once it is deleted. */
export function findIntegration(reader: Reader, id: string): IntegrationRow | null {
  return reader.sql<[id: string], IntegrationRow>(INTEGRATION).get(id) ?? null;
}
