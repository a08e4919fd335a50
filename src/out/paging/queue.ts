import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Reader, Store, Tx } from "../../ground/store/store.ts";
import { clockOfPerson } from "../../people/reader-clock.ts";
import { type ContactRow, findContact } from "../contacts/contacts.ts";
import type { EventBody } from "../outbox/event.ts";
import type { EventNames } from "../outbox/event-names.ts";
import type { Look, Queue } from "../outbox/queue.ts";
import type { DirectMessage } from "../services/direct-message.ts";
import { contactKindList } from "../services/list.ts";
import { capabilityEnd, capabilityOf, linkBase, tenantOf } from "./capability.ts";
import { messageName, shownHandle } from "./message-name.ts";
import { isPage, type PageOutcome, type PageRow } from "./page.ts";
import { PAGE_EVENTS } from "./pages.ts";
import { pageRecorder } from "./record.ts";
import { noteMessage, pageMessage, type ShiftFacts, shiftMessage } from "./say.ts";
import type { ContactSender } from "./send.ts";

interface PageQueueOptions {
  store: Store;
  sealer: Sealer;
  sender: ContactSender;
  /** What links begin with; empty where it isn't known. */
  publicUrl: string;
  /** Whether the service has other tenants, too: links say whose they are. */
  oneOfMany: boolean;
  /** Writes a line of an alert's history. */
  tell(tx: Tx, alertId: number, entry: { kind: string; detail: Record<string, unknown> }): void;
  /** A page failed for good, and nobody of its alert has been told or is about to be. */
  unreached(tx: Tx, alertId: number): void;
  /** Whether an alert is quiet now. */
  isQuiet(alertId: number): boolean;
  /** A page was due while its alert was quiet. */
  hold(tx: Tx, alertId: number): void;
  /** What is said of a shift whose beginning is checked; null once it is gone. */
  shift(check: number): ShiftFacts | null;
}

const ROW = `SELECT p.id, p.alert_id AS alertId, p.attempts, p.event, p.created_at AS createdAt, p.account_id AS accountId,
    p.event_row AS eventRow, p.handle, p.due_ms AS dueMs, p.ref, p.outcome, p.shift_check AS shiftCheck, v.body, v.said FROM pages p LEFT JOIN events v ON v.id = p.event_row
  WHERE p.contact_id = ? AND p.status = 'pending'`;
/** Rows that go in one message. */
const MOST = 1000;
/** Whatever the person is due by now goes along: nothing overtakes an older page. */
const BUNDLE = `${ROW} AND p.event IN ${PAGE_EVENTS} AND p.due_ms <= ? ORDER BY p.id LIMIT ${MOST}`;
/** One of those that go along: what comes behind them isn't tried before them. */
const LEAD = `${ROW} AND p.id IN (SELECT id FROM pages WHERE contact_id = ? AND status = 'pending' AND event IN ${PAGE_EVENTS}
    AND due_ms <= ? ORDER BY id LIMIT ${MOST}) AND p.next_attempt_ms <= ? ORDER BY p.id LIMIT 1`;
const NOTE = `${ROW} AND p.event NOT IN ${PAGE_EVENTS} AND p.next_attempt_ms <= ? ORDER BY p.attempts, p.id LIMIT 1`;
const NOTES = `${ROW} AND p.event = ? AND p.ref IS NULL AND p.next_attempt_ms <= ? ORDER BY p.attempts, p.id LIMIT ${MOST}`;
const NEXT = `SELECT min(next_attempt_ms) FROM pages
  WHERE contact_id = ? AND status = 'pending' AND next_attempt_ms > ?`;
const HELD = `SELECT 1 FROM pages WHERE contact_id = ? AND status = 'pending' AND event IN ${PAGE_EVENTS}
  AND next_attempt_ms <= ? LIMIT 1`;
const ENDPOINTS = "SELECT DISTINCT contact_id FROM pages WHERE status = 'pending'";
const RELEASE = `UPDATE pages SET next_attempt_ms = ? WHERE contact_id = ? AND status = 'pending'
  AND attempts > 0 AND next_attempt_ms > ?`;

type Params = [contactId: string, nowMs: number];

/**
 * Pages to contacts as the dispatcher's queue. One message at a time goes to a contact; what becomes due while it is under
 * way, or soon after it, goes as one that names each alert.
 */
export function pageQueue(options: PageQueueOptions): Queue<PageOutcome, ContactRow, PageRow> {
  const { store } = options;
  const record = pageRecorder(options);
  const restUntil = (reader: Reader, id: string): number => {
    const contact = findContact(reader, id);
    if (contact?.sentMs == null) return 0;
    return contact.sentMs + (contactKindList.find(contact.kind)?.gapMs ?? 0);
  };
  return {
    name: "pages",
    probes: true,
    endpoints: (reader) => reader.sql<[], string>(ENDPOINTS).pluck().all(),
    due(reader, id, { nowMs, inFlight }: Look) {
      if (inFlight.size > 0) return [];
      const lead =
        restUntil(reader, id) > nowMs
          ? undefined
          : reader
              .sql<[...Params, ...Params], PageRow>(LEAD)
              .get(...([id, id, nowMs, nowMs] as unknown as [...Params, ...Params]));
      const row = lead ?? reader.sql<Params, PageRow>(NOTE).get(id, nowMs);
      return row === undefined ? [] : [row];
    },
    nextDue(reader, id, nowMs) {
      const next = reader.sql<Params, number | null>(NEXT).pluck().get(id, nowMs) ?? null;
      const rest = restUntil(reader, id);
      const isHeld = rest > nowMs && reader.sql<Params>(HELD).get(id, nowMs) !== undefined;
      if (!isHeld) return next;
      return next === null ? rest : Math.min(next, rest);
    },
    endpoint(reader, id) {
      const target = findContact(reader, id);
      if (target === null) return null;
      return { enabled: target.state !== "off", failures: target.failures, target };
    },
    send: (contact, row) => send(options, contact, row),
    broken: (row) => ({
      verdict: { kind: "later", error: "could not be sent: see the log" },
      ours: true,
      rows: [row as PageRow],
    }),
    isWell: ({ verdict }) => verdict.kind === "delivered",
    record: (tx, contactId, { outcome }) => record(tx, contactId, outcome),
    release(tx, id) {
      const now = tx.clock.now();
      tx.sql<[now: number, id: string, now: number]>(RELEASE).run(now, id, now);
      return 0;
    },
    backlog: () => 0,
    isDrained: () => true,
  };

  async function send(
    { sender, sealer, publicUrl, oneOfMany, isQuiet, shift }: PageQueueOptions,
    contact: ContactRow,
    row: PageRow,
  ): Promise<PageOutcome> {
    const base = linkBase(store, publicUrl);
    const link = (alertId: string) => (base === null ? null : `${base}/a/${alertId}`);
    if (row.shiftCheck !== null) return tellShift(row, shift(row.shiftCheck));
    if (!isPage(row)) return tellNotes(row);
    const due = store.sql<Params, PageRow>(BUNDLE).all(contact.id, store.clock.now());
    const all = due.length === 0 ? [row] : due;
    const quiet = new Set([...new Set(all.map(({ alertId }) => alertId))].filter(isQuiet));
    const [lead, ...along] = all.filter(({ alertId }) => !quiet.has(alertId));
    if (lead === undefined) {
      const verdict = { kind: "waiting", error: "silenced" } as const;
      return { verdict, rows: all, isQuiet: true };
    }
    const rows: Rows = [lead, ...along];
    const [first, ...others] = latestOfEach(withBodies(rows));
    if (first === undefined) return nothingToSay(row);
    const message = messageOf([first, ...others], rows);
    return {
      ...(await sender.send(contact, message, {
        name: messageName(rows),
        // The message before, which it may have waited for, is none of its attempts.
        since: row.attempts > 0 ? Math.max(row.dueMs, restUntil(store, contact.id)) : null,
      })),
      rows,
    };

    async function tellShift(row: PageRow, facts: ShiftFacts | null): Promise<PageOutcome> {
      if (facts === null) return nothingToSay(row);
      const message = shiftMessage(facts, base === null ? null : `${base}/oncall`);
      return {
        ...(await sender.send(contact, message, { name: messageName([row]) })),
        rows: [row],
      };
    }

    /** Of what was told alone the message is changed; all else goes together, since none of it is urgent. */
    async function tellNotes(row: PageRow): Promise<PageOutcome> {
      const now = store.clock.now();
      const rows =
        row.ref === null
          ? store.sql<[string, string, number], PageRow>(NOTES).all(contact.id, row.event, now)
          : [row];
      // Who was being paged once more while somebody took it has two of them.
      const [first, ...others] = latestOfEach(withBodies(rows));
      if (first === undefined) return nothingToSay(row);
      const message = noteMessage([first, ...others], {
        link,
        clock: clockOfPerson(store, row.accountId),
      });
      const how = { ref: row.ref, name: messageName([row, ...rows.slice(1)]) };
      return { ...(await sender.send(contact, message, how)), rows };
    }

    /** Whoever answers it answers all that it names, by the link and by the handle of its first row. */
    function messageOf(all: [RowWithEvent, ...RowWithEvent[]], rows: Rows): DirectMessage {
      const [{ handle, dueMs }] = rows;
      const [{ row: first }] = all;
      const message = messageName(rows);
      const right = {
        tenantId: tenantOf(store),
        message,
        alertId: first.alertId,
        accountId: first.accountId,
        contactId: contact.id,
        until: capabilityEnd({ due: Math.floor(dueMs / 1000), now: store.clock.now() / 1000 }),
      };
      // A browser is told that its right has ended, also once its subscription is gone.
      const whole = oneOfMany || contact.kind === "web_push";
      const url = base === null ? null : `${base}/ack/${capabilityOf(sealer, right, { whole })}`;
      const id = `${all.at(-1)?.event.event_id}`;
      const clock = clockOfPerson(store, first.accountId);
      return pageMessage(all, {
        id,
        link,
        clock,
        ack: { url, handle: shownHandle(handle, message) },
      });
    }
  }
}

type Rows = readonly [PageRow, ...PageRow[]];

/** Its event went with its alert, between the look at it and the sending. */
function nothingToSay(row: PageRow): PageOutcome {
  return { verdict: { kind: "dropped", error: "what it is about is no longer kept" }, rows: [row] };
}

interface RowWithEvent {
  row: PageRow;
  event: EventBody;
  said: EventNames | null;
}

function withBodies(rows: readonly PageRow[]): RowWithEvent[] {
  return rows.flatMap((row) =>
    row.body === null
      ? []
      : [
          {
            row,
            event: JSON.parse(row.body) as EventBody,
            said: row.said === null ? null : (JSON.parse(row.said) as EventNames),
          },
        ],
  );
}

/** Of several pages for one alert the latest, at the place of the first. */
function latestOfEach(all: readonly RowWithEvent[]): RowWithEvent[] {
  const byAlert = new Map<number, RowWithEvent>();
  for (const one of all) byAlert.set(one.row.alertId, one);
  return [...byAlert.values()];
}
