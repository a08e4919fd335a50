import type { GroupedAlerts } from "./grouped.ts";

/**
 * What a message tells beyond the event's body: names, which the body's receivers look up by id. Written with the
 * event and never changed, so that every attempt says the same.
 */
export interface EventNames {
  /** Whom this event pages. */
  paged?: ByName;
  /** Nothing reaches any of those whom it pages. */
  unreached?: true;
  /** Nobody on the whole ladder can be reached, so it pages those who stand in. */
  nobody?: true;
  /** Whom the alert has paged so far. */
  told?: ByName;
  /** Whom the ladder pages next; null: it has run. */
  next?: Next | null;
  /** How many steps its ladder has; left out where it has none. */
  steps?: number;
  /** Who acknowledged or resolved it. */
  by?: string;
  /** Why it ended where nobody ended it, in words. */
  because?: string;
  /** Who had acknowledged an alert that is over. */
  acknowledged?: string;
  /** How long it stood, in seconds. */
  lasted?: number;
  /** It had ended, and is open again. */
  again?: true;
  /** It opened then and was kept quiet until now: Unix seconds. */
  silenced?: number;
  /** What to do about it: the rule's. */
  runbook?: string;
  /** The labels that told it from the other unresolved alerts of its rule. */
  apart?: readonly { name: string; value: string }[];
  /** What its sender sent along. */
  links?: readonly Link[];
  /** It tells of many alerts, in place of what is told of one. */
  together?: GroupedAlerts;
  /** It is about no alert: these words are all that is said. */
  note?: { title: string; lines: readonly string[]; link: string | null };
}

/** People by name: so many of them, and how many more there are. */
export interface ByName {
  people: readonly { name: string; why: string }[];
  more: number;
}

export interface Next extends ByName {
  at: number;
}

export interface Link {
  text: string;
  href: string;
}
