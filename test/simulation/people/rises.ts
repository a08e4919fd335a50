import type { Store } from "../../../src/ground/store/store.ts";
import type { Engine } from "../engine.ts";
import type { Seeded } from "../seeded.ts";
import { type Ways, wanted, waysNow } from "./laws.ts";

/** Alerts that become worse than they were, and whom that pages: those contacts alone that take only what is so bad. */

interface Open {
  id: number;
  level: number;
  message: string;
  keys: string;
  accounts: string;
}

const OPEN = `SELECT id, level, last_message AS message, identifiers AS keys, page_accounts AS accounts FROM alerts
  WHERE state = 'open' AND untold = 0 AND dedup_key IS NULL AND template_id <> '*' AND level < 500 ORDER BY id DESC LIMIT 5`;
const TOLD = "SELECT count(*) FROM events WHERE alert_id = ? AND event = 'alert.renotified'";

/** An event of an open alert comes at a higher level. What is wrong about it: a contact that takes it isn't paged. */
export function rise(engine: Engine, random: Seeded): string | null {
  const { store } = engine;
  const alert = random.pick(store.sql(OPEN).all() as Open[]);
  if (alert === undefined) return null;
  const told = () => Number(store.sql(TOLD).pluck().get(alert.id));
  const before = told();
  const [ways, level] = [waysNow(store), alert.level + random.pick([1, 100, 100])];
  const keys = JSON.parse(alert.keys) as Record<string, string>;
  engine.submit(engine.source, [{ message: alert.message, level, keys, tags: null }]);
  const after = store.sql("SELECT level FROM alerts WHERE id = ?").pluck().get(alert.id);
  const accounts = JSON.parse(alert.accounts) as string[];
  const owed = opened(ways, { accounts, from: alert.level, level }).must;
  return after === level && owed.length > 0 && told() === before
    ? `alert ${alert.id} rose from ${alert.level} to ${level}, and nobody pages ${owed}`
    : null;
}

/** Contacts that a rise must page, and those that it may: some would have been paged later. */
function opened(ways: Ways, of: { accounts: readonly string[]; from: number; level: number }) {
  const at = (level: number) =>
    new Map(
      of.accounts
        .flatMap((account) => wanted(ways, account, level))
        .map((way): [string, number] => {
          const [contact = "", , after] = way.split(" ");
          return [contact, Number(after)];
        }),
    );
  const [was, is] = [at(of.from), at(of.level)];
  const may = [...is].filter(([contact, after]) => after < (was.get(contact) ?? Infinity));
  return {
    must: [...is.keys()].filter((contact) => !was.has(contact)),
    may: new Set(may.map(([contact]) => contact)),
  };
}

interface Worse {
  why: string;
  from: number;
  to: number;
  accounts: string[];
}

const WHY = `SELECT detail FROM timeline WHERE alert_id = (SELECT alert_id FROM events WHERE id = :event) AND kind = 'renotified'
  ORDER BY id LIMIT 1 OFFSET (SELECT count(*) FROM events e JOIN events v ON v.alert_id = e.alert_id AND v.event = e.event
    WHERE e.id = :event AND v.id < :event)`;

/** What such an event says of itself; null for every other. */
export function worseOf(store: Store, event: { id: number; kind: string }): Worse | null {
  if (event.kind !== "alert.renotified") return null;
  const detail = store.sql(WHY).pluck().get({ event: event.id }) as string | undefined;
  const said = JSON.parse(detail ?? "{}") as Partial<Worse>;
  return said.why === "worse" ? (said as Worse) : null;
}

/** What is wrong about the contacts that it pages, by the ways of people before and after it. */
export function* wrongOfRise(
  { from, to: level, accounts }: Worse,
  { contacts, before, after }: { contacts: readonly string[]; before: Ways; after: Ways },
): Generator<string> {
  const [sooner, later] = [before, after].map((ways) =>
    opened(ways, { accounts, from, level }),
  ) as [ReturnType<typeof opened>, ReturnType<typeof opened>];
  for (const contact of contacts)
    if (!sooner.may.has(contact) && !later.may.has(contact))
      yield `pages ${contact}, which took it before or doesn't now`;
  for (const contact of sooner.must)
    if (later.must.includes(contact) && !contacts.includes(contact))
      yield `pages nobody by ${contact}, which takes it now`;
}
