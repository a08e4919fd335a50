import { loseContact, setFallback } from "../../../src/core/alerts/fallback.ts";
import { hexId } from "../../../src/ground/kit/ids.ts";
import type { Store } from "../../../src/ground/store/store.ts";
import {
  type ContactRow,
  changeContact,
  deleteContact,
  findContact,
} from "../../../src/out/contacts/contacts.ts";
import { writeNotify } from "../../../src/out/contacts/notify.ts";
import type { Seeded } from "../seeded.ts";
import { PEOPLE } from "../world.ts";

/** People's contacts, their rules and the fallback, as acts write them. */

/** Kinds with what contract §27 says of them: later pages wait, and how long a person is left without rules of their own. */
export const kinds: Record<string, { gapMs: number; restSeconds: number }> = {
  webhook: { gapMs: 5_000, restSeconds: 0 },
  telegram: { gapMs: 5_000, restSeconds: 0 },
  web_push: { gapMs: 5_000, restSeconds: 0 },
  sms: { gapMs: 30_000, restSeconds: 0 },
  voice: { gapMs: 90_000, restSeconds: 120 },
};

export function furnish(store: Store, random: Seeded): void {
  store.write((tx) => {
    for (const id of ["twilio", "telegram", "web_push"])
      tx.sql("INSERT INTO gateways (id, url, sealed, updated_at) VALUES (?, '', '', ?)").run(
        id,
        tx.at,
      );
    // In half of the stories a relay's phones reach people, too.
    if (random.chance(0.5)) tx.sql("DELETE FROM integrations").run();
  });
  for (const account of PEOPLE)
    for (let n = random.below(3); n > 0; n -= 1) addContact(store, random, account);
  for (const account of PEOPLE) if (random.chance(0.4)) setRules(store, random, account);
}

/** One that has been verified. */
export function addContact(store: Store, random: Seeded, account: string): void {
  const there = store.sql("SELECT 1 FROM accounts WHERE id = ?").get(account);
  if (there === undefined) return;
  const id = hexId(random);
  const kind = random.pick(Object.keys(kinds));
  const wants = kind === "web_push" ? random.pick(['["pages","shift"]', '["shift"]', null]) : null;
  store.write((tx) => {
    tx.sql(
      `INSERT INTO contacts (id, account_id, kind, label, shown, sealed, state, verified_at, created_at, wants)
       VALUES (?, ?, ?, '', '', '', 'verified', ?, ?, ?)`,
    ).run(id, account, kind, tx.at, tx.at, wants);
    tx.note({ topic: "people" });
  });
}

export interface Owned {
  id: string;
  account: string;
}

export function contactsOf(store: Store): Owned[] {
  return store.sql("SELECT id, account_id AS account FROM contacts ORDER BY id").all() as Owned[];
}

export function setRules(store: Store, random: Seeded, account: string): void {
  const own = contactsOf(store).filter((contact) => contact.account === account);
  if (own.length === 0) return;
  const rules = Array.from({ length: random.below(4) }, () => ({
    after_seconds: random.pick([0, 0, 4, 60, 300, 3_600]),
    contacts: own.filter(() => random.chance(0.7)).map(({ id }) => id),
    min_level: random.pick([0, 0, 401, 500]),
  }));
  store.write((tx) => writeNotify(tx, account, rules));
}

/** Switches one off or on, or removes it, as the routes do. */
export function meddle(store: Store, random: Seeded): void {
  const contact = random.pick(contactsOf(store));
  if (contact === undefined) return;
  const what = random.below(3);
  store.write((tx) => {
    if (what === 0) {
      loseContact(tx, deleteContact(tx, contact));
      return;
    }
    const { state } = changeContact(tx, contact, { state: what === 1 ? "off" : "verified" });
    if (state === "off") loseContact(tx, findContact(tx, contact.id) as ContactRow);
  });
}

export function nameFallback(store: Store, random: Seeded): void {
  const there = new Set(store.sql("SELECT id FROM accounts").pluck().all());
  const accounts = PEOPLE.filter((id) => there.has(id) && random.chance(0.4));
  store.write((tx) => setFallback(tx, { accounts, schedules: [] }));
}
