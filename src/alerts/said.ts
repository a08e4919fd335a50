import type { ByName, EventSaid } from "../outbox/said.ts";
import type { StoredRule } from "../projects/rule.ts";
import type { Reader, Tx } from "../store/store.ts";
import { type Alert, type AlertRow, toAlert } from "./alert.ts";
import { climb, firstOfRung, nextRung, type Timers } from "./ladder.ts";
import { createReach, type Reach, storedSeats } from "./reach.ts";

/** People that a message names; of more it says how many. */
const MOST_PEOPLE = 10;
/** Addresses of the sender's that a message shows. */
const MOST_LINKS = 3;

const NAME = "SELECT display_name, email FROM accounts WHERE id = ?";

/** What an account is called: its name, else its email. */
export function calledOf(reader: Reader, accountId: string): string {
  const row = reader
    .sql<[id: string], { display_name: string; email: string }>(NAME)
    .get(accountId);
  if (row === undefined) return "somebody who was removed";
  return row.display_name.trim() === "" ? row.email : row.display_name;
}

/** What every message of the alert tells: what to do about it, and what its sender sent along. */
export function alwaysSaid(row: AlertRow, rule: StoredRule | null): EventSaid {
  const { links, images } = row.extra === null ? NOTHING : toAlert(row);
  const shown = [
    ...links,
    ...images.map(({ src, alt = "" }) => ({ href: src, text: alt || "Image" })),
  ].slice(0, MOST_LINKS);
  return {
    ...(rule !== null && rule.runbook_url !== "" && { runbook: rule.runbook_url }),
    ...(shown.length > 0 && { links: shown }),
  };
}

const NOTHING: Pick<Alert, "links" | "images"> = { links: [], images: [] };

/** Whom steps page, each once, and why: by the step that names them, or by the schedule that has them on call. */
export function pagedBy(
  tx: Tx,
  rule: StoredRule,
  { first, last, reach }: { first: number; last: number; reach: Reach },
): ByName {
  const why = new Map<string, string>();
  const add = (accounts: readonly string[], because: string) => {
    for (const account of accounts) if (!why.has(account)) why.set(account, because);
  };
  rule.escalations.slice(first - 1, last).forEach((step, i) => {
    add(reach(rule.project_id, { ...step, schedules: [] }), `step ${first + i}`);
    for (const name of step.schedules)
      add(reach(rule.project_id, { ...step, accounts: [], schedules: [name] }), `on call: ${name}`);
  });
  return byName(tx, [...why]);
}

/** Whom the alert has paged so far. */
export function pagedSoFar(tx: Tx, row: AlertRow): ByName {
  const accounts = JSON.parse(row.page_accounts) as string[];
  return byName(
    tx,
    accounts.map((account) => [account, ""]),
  );
}

function byName(tx: Tx, accounts: readonly (readonly [account: string, why: string])[]): ByName {
  const people = accounts
    .slice(0, MOST_PEOPLE)
    .map(([account, why]) => ({ name: calledOf(tx, account), why }));
  return { people, more: accounts.length - people.length };
}

/**
 * Whom the ladder pages next and when, as things stand: a change of the rule, its schedules or its people may make it
 * another. Empty for a rule without a ladder; null in it: the ladder has run.
 */
export function nextSaid(
  tx: Tx,
  rule: StoredRule,
  timers: Timers,
): Pick<EventSaid, "next" | "steps"> {
  const ladder = rule.escalations;
  if (ladder.length === 0) return {};
  const { step, stepAt, repeatAt } = timers;
  const repeats = repeatAt !== null && step > 0 && (stepAt === null || repeatAt < stepAt);
  const top = Math.min(step, ladder.length);
  const span = repeats ? { first: firstOfRung(ladder, top), last: top } : nextRung(ladder, step);
  const at = repeats ? repeatAt : stepAt;
  const steps = ladder.length;
  if (span === null || at === null) return { next: null, steps };
  const reach = createReach(Math.max(at, tx.at), storedSeats(tx));
  const { paged } = climb(ladder, span, (one) => reach(rule.project_id, one));
  const people = paged === null ? NOBODY : pagedBy(tx, rule, { ...paged.span, reach });
  return { next: { at, ...people }, steps };
}

const NOBODY: ByName = { people: [], more: 0 };
