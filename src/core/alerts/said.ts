import type { Reader, Tx } from "../../ground/store/store.ts";
import type { EventKind } from "../../out/outbox/event.ts";
import type { ByName, EventNames } from "../../out/outbox/event-names.ts";
import type { StoredRule } from "../projects/rule.ts";
import { type Alert, type AlertRow, factsOf } from "./alert.ts";
import { apartOf } from "./apart.ts";
import { numberInPass, wholeLadder } from "./ladder.ts";
import { createReach, type StepRecipients, storedSeats } from "./reach.ts";
import { nextOfLadder } from "./rungs-ahead.ts";

/** People that a message names; of more it says how many. */
const MOST_PEOPLE = 10;
/** Addresses of the sender's that a message shows. */
const MOST_LINKS = 3;

const NAME = "SELECT display_name, email FROM accounts WHERE id = ?";

/** What an account is called: its name, else its email. */
export function displayNameOf(reader: Reader, accountId: string): string {
  const row = reader
    .sql<[id: string], { display_name: string; email: string }>(NAME)
    .get(accountId);
  if (row === undefined) return "somebody who was removed";
  return row.display_name.trim() === "" ? row.email : row.display_name;
}

/** What every message of the alert tells: what to do about it, what its sender sent along, and what tells it from others. */
export function alwaysSaid(
  reader: Reader,
  row: AlertRow,
  { event, rule }: { event: EventKind; rule: StoredRule | null },
): EventNames {
  const apart = CALLS.has(event) ? (apartOf(reader, [row]).get(row.id) ?? []) : [];
  const { links, images } = row.extra === null ? NOTHING : factsOf(row);
  const shown = [
    ...links,
    ...images.map(({ src, alt = "" }) => ({ href: src, text: alt || "Image" })),
  ].slice(0, MOST_LINKS);
  return {
    ...(rule !== null && rule.runbook_url !== "" && { runbook: rule.runbook_url }),
    ...(apart.length > 0 && { apart }),
    ...(shown.length > 0 && { links: shown }),
  };
}

/** Events that ask somebody to look. What ended it is no time to compare it with others. */
const CALLS: ReadonlySet<EventKind> = new Set([
  "alert.opened",
  "alert.escalated",
  "alert.renotified",
]);

const NOTHING: Pick<Alert, "links" | "images"> = { links: [], images: [] };

/** Whom steps page, each once, and why: by the step that names them, or by the schedule that has them on call. */
export function pagedBy(
  tx: Tx,
  rule: StoredRule,
  steps: { first: number; last: number; reach: StepRecipients },
): ByName {
  return byName(tx, [...whyPaged(rule, steps)]);
}

function whyPaged(
  rule: StoredRule,
  { first, last, reach }: { first: number; last: number; reach: StepRecipients },
): Map<string, string> {
  const why = new Map<string, string>();
  const add = (accounts: readonly string[], because: string) => {
    for (const account of accounts) if (!why.has(account)) why.set(account, because);
  };
  wholeLadder(rule)
    .slice(first - 1, last)
    .forEach((step, i) => {
      const number = numberInPass(rule, first + i);
      add(reach(rule.project_id, { ...step, schedules: [] }), `rung ${number}`);
      for (const name of step.schedules)
        add(
          reach(rule.project_id, { ...step, accounts: [], schedules: [name] }),
          `on call: ${name}`,
        );
    });
  return why;
}

/** Whom the alert has paged so far. */
export function pagedSoFar(tx: Tx, row: AlertRow): ByName {
  return pagedAlike(tx, JSON.parse(row.page_accounts) as string[], "");
}

/** These people, for one reason. */
export function pagedAlike(tx: Tx, accounts: readonly string[], why: string): ByName {
  return byName(
    tx,
    accounts.map((account) => [account, why]),
  );
}

function byName(tx: Tx, accounts: readonly (readonly [account: string, why: string])[]): ByName {
  const people = accounts
    .slice(0, MOST_PEOPLE)
    .map(([account, why]) => ({ name: displayNameOf(tx, account), why }));
  return { people, more: accounts.length - people.length };
}

/**
 * Whom the ladder of an alert pages next and when, as things stand: a change of the rule, its
 * schedules, its people or what is silenced may make it another. Empty for a rule without a ladder; null in it: the ladder
 * has run.
 */
export function nextSaid(
  tx: Tx,
  row: AlertRow,
  rule: StoredRule,
): Pick<EventNames, "next" | "steps"> {
  const steps = rule.escalations.length;
  if (steps === 0) return {};
  const seats = storedSeats(tx);
  const rungs = nextOfLadder(tx, row, { rule, seats });
  const [first] = rungs;
  if (first === undefined) return { next: null, steps };
  const { at } = first;
  const reach = createReach(at, seats);
  const why = rungs.flatMap(({ span, accounts }): [account: string, why: string][] =>
    span === null
      ? accounts.map((account) => [account, "fallback"])
      : [...whyPaged(rule, { ...span, reach })],
  );
  const each = why.filter(([account], i) => why.findIndex(([other]) => other === account) === i);
  return { next: { at, ...byName(tx, each) }, steps };
}
