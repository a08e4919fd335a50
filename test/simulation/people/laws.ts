import type { Store } from "../../../src/ground/store/store.ts";
import type { Machine } from "../engine.ts";
import { kinds } from "./cast.ts";
import { worseOf, wrongOfRise } from "./rises.ts";
import type { Call } from "./services.ts";
import { watchUndelivered } from "./undelivered.ts";

/** What holds for pages whatever happens, read off the rows, the histories and what the services saw. */

const PAGES = "('alert.escalated', 'alert.renotified')";
const HOUR_MS = 3_600_000;

export interface Laws {
  readonly faults: string[];
  /** Pages that were made, messages, and alerts that paged somebody by becoming worse. */
  readonly made: { pages: number; bundles: number; rises: number };
  /** A message begins. */
  onCall(call: Call): void;
  /** After each thing that was done; `next`: when the pager looks again, in Unix ms. */
  onStep(next: number | null): void;
  /** Before and after an act that may change who is reached by what. */
  read(): void;
  /** A button of this message is pressed: it acts on these alerts. */
  onPress(call: Call, alerts: readonly number[]): void;
  /** The box is up again; `skewed`: its clock came back with a time that nobody knows to be wrong. */
  onStart(skewed: boolean): void;
  /** Everything has come to rest. */
  atEnd(): void;
}

export interface Ways {
  usable: { id: string; account: string; kind: string; wants: string | null }[];
  rules: Map<string, { after_seconds: number; contacts: string[]; min_level: number }[]>;
}

export function lawsOf(deps: { store(): Store; machine: Machine; calls(): readonly Call[] }): Laws {
  const { machine } = deps;
  const faults: string[] = [];
  const made = { pages: 0, bundles: 0, rises: 0 };
  let lastEvent = 0;
  let before = waysNow(deps.store());
  /** The last line of history before each event that pages somebody. */
  const historyBefore = new Map<number, number>();
  let history = 0;
  let upSince = machine.mono();
  let countFrom = 0;

  const say = (fault: string) => {
    if (faults.length < 20) faults.push(`at ${machine.mono() / 1000} s: ${fault}`);
  };
  const all = <T>(sql: string, ...values: (string | number)[]) =>
    deps
      .store()
      .sql(sql)
      .all(...values) as T[];

  const undelivered = watchUndelivered({ ...deps, say });

  /** The alert that this one is told under now. */
  const living = (id: number): number => {
    const [row] = all<{ into: string | null }>(
      `SELECT json_extract(detail, '$.into') AS "into" FROM timeline WHERE alert_id = ? AND kind = 'resolved'
         AND json_extract(detail, '$.reason') = 'merged' ORDER BY id DESC LIMIT 1`,
      id,
    );
    return row?.into ? living(Number(row.into)) : id;
  };
  const isOpen = (id: number) =>
    all<{ state: string }>("SELECT state FROM alerts WHERE id = ?", id)[0]?.state === "open";

  /** Nobody is paged whom the event doesn't page, by what their rules don't want, or at another time. */
  function read(): void {
    const after = waysNow(deps.store());
    const events = all<{ id: number; kind: string; body: string }>(
      `SELECT id, event AS kind, body FROM events WHERE id > ? AND event IN ${PAGES} ORDER BY id`,
      lastEvent,
    );
    for (const { id, kind, body } of events) {
      lastEvent = id;
      const { page_accounts, level } = JSON.parse(body) as {
        page_accounts: string[];
        level: number;
      };
      const rows = all<{ contact: string; after: number }>(
        `SELECT contact_id AS contact, (due_ms - created_at * 1000) / 1000 AS after FROM pages WHERE event_row = ?`,
        id,
      );
      made.pages += rows.length;
      historyBefore.set(id, history);
      const worse = worseOf(deps.store(), { id, kind });
      if (worse !== null) {
        const contacts = rows.map(({ contact }) => contact);
        for (const wrong of wrongOfRise(worse, { contacts, before, after }))
          say(`event ${id} ${wrong}`);
        made.rises += 1;
        continue;
      }
      const was = rows.map(({ contact, after }) => `${contact} after ${after}`);
      const [sooner, later] = [before, after].map(
        (ways) => new Set(page_accounts.flatMap((account) => wanted(ways, account, level))),
      ) as [Set<string>, Set<string>];
      for (const row of was)
        if (!sooner.has(row) && !later.has(row)) say(`event ${id} pages ${row}: not wanted`);
      for (const row of sooner)
        if (later.has(row) && !was.includes(row)) say(`event ${id} pages nobody by ${row}`);
      if (new Set(was).size < was.length) say(`event ${id} pages somebody twice`);
    }
    before = after;
    history = all<{ id: number }>("SELECT coalesce(max(id), 0) AS id FROM timeline")[0]?.id ?? 0;
  }

  function onCall(call: Call): void {
    const { contact, purpose, alerts, kind } = call;
    if (new Set(alerts).size < alerts.length) say(`a message names an alert twice: ${alerts}`);
    const others = deps
      .calls()
      .slice(countFrom)
      .filter((other) => other.contact === contact);
    if (others.some(({ ended }) => ended === null)) say(`two messages to ${contact} at a time`);
    if (purpose === "note") {
      for (const id of alerts.filter(isOpen)) say(`a note of alert ${id}, which is open`);
      return;
    }
    const named = [...new Set(alerts.map(living))];
    call.alerts = named;
    for (const id of named) if (!isOpen(id)) say(`a page of alert ${id}, which is taken`);
    const now = deps.store().clock.now();
    const due = all<{ alert: number }>(
      `SELECT alert_id AS alert, min(id) FROM pages WHERE contact_id = ? AND status = 'pending' AND event IN ${PAGES}
         AND due_ms <= ? GROUP BY alert_id ORDER BY min(id)`,
      contact,
      now,
    ).map(({ alert }) => alert);
    if (JSON.stringify(named) !== JSON.stringify(due))
      say(`a message names ${named}, due is ${due}`);
    if (alerts.length > 1) made.bundles += 1;
    const last = others.findLast(
      (other) => other.took && other.written && other.purpose === "page",
    );
    const rest = (last?.ended ?? -Infinity) + (kinds[kind]?.gapMs ?? 0) - machine.mono();
    if (rest > 0) say(`a page to ${contact} ${rest} ms too soon after the last`);
  }

  function onStep(next: number | null): void {
    read();
    const now = deps.store().clock.now();
    const waiting = all<{ id: number; contact: string; due: number; at: number; state: string }>(
      `SELECT p.id, contact_id AS contact, due_ms AS due, next_attempt_ms AS at, c.state FROM pages p
         LEFT JOIN contacts c ON c.id = contact_id WHERE status = 'pending' AND event IN ${PAGES} ORDER BY due_ms LIMIT 20`,
    );
    const up = machine.mono() - upSince;
    for (const { id, contact, due, at, state } of waiting) {
      if (now - due > HOUR_MS + 130_000) say(`page ${id} waits ${(now - due) / 1000} s`);
      const busy = deps.calls().some((call) => call.contact === contact && call.ended === null);
      const isOn = state === "verified" || state === "failing";
      const idle = Math.min(now - at, up);
      if (isOn && !busy && idle > 180_000) say(`page ${id} is left alone for ${idle / 1000} s`);
      if (isOn && !busy && next === null) say(`page ${id} waits and nobody looks`);
    }
    nobodyLeft();
    undelivered.look(upSince);
  }

  /** An open alert whose latest pages have all failed says so. */
  function nobodyLeft(): void {
    const rows = all<{ id: number; event: number; said: number }>(
      `SELECT id, event, (SELECT coalesce(max(t.id), 0) FROM timeline t WHERE t.alert_id = g.id AND t.kind = 'unreachable') AS said
         FROM (SELECT a.id, p.event_row AS event FROM alerts a JOIN pages p ON p.alert_id = a.id AND p.event IN ${PAGES}
           WHERE a.state = 'open' AND NOT EXISTS (SELECT 1 FROM integrations)
           GROUP BY a.id, p.event_row HAVING sum(p.status <> 'failed') = 0) g
         WHERE NOT EXISTS (SELECT 1 FROM pages q WHERE q.alert_id = g.id AND q.event IN ${PAGES} AND q.event_row > g.event)`,
    ).filter(({ event, said }) => said <= (historyBefore.get(event) ?? Infinity));
    for (const { id } of rows) say(`alert ${id}: all its pages failed, and nobody is told`);
  }

  function atEnd(): void {
    // A rule that waits opens an alert also after the others were resolved, and its pages may be due later.
    const waits = all<{ id: number }>(
      `SELECT p.id FROM pages p LEFT JOIN alerts a ON a.id = p.alert_id WHERE p.status = 'pending'
         AND (p.due_ms <= ${deps.store().clock.now()} OR coalesce(a.state, 'resolved') = 'resolved')`,
    );
    for (const { id } of waits) say(`page ${id} waits at the end`);
    const took = new Set(
      deps
        .calls()
        .filter((call) => call.took)
        .flatMap(({ contact, purpose, alerts }) =>
          alerts.map((id) => `${purpose} ${contact} ${id}`),
        ),
    );
    type Row = { id: number; contact: string; alert: number; status: string };
    const rows = all<Row & { at: number; error: string; event: string }>(
      `SELECT id, contact_id AS contact, alert_id AS alert, status, event, finished_at AS at, coalesce(last_error, '') AS error FROM pages`,
    );
    const told = (alert: number, at: number, kinds: string) =>
      all(`SELECT 1 FROM timeline WHERE alert_id = ? AND at = ? AND kind IN (${kinds})`, alert, at)
        .length > 0;
    const shown = all<{ n: number }>(
      `SELECT (SELECT count(*) FROM timeline WHERE kind = 'shown') -
         (SELECT count(*) FROM pages JOIN alerts a ON a.id = alert_id WHERE shown_at IS NOT NULL AND event IN ${PAGES}) AS n`,
    )[0]?.n;
    if (shown !== 0) say(`${shown} more pages are told of as shown than were`);
    for (const { id, contact, alert, status, at, error, event } of rows) {
      const isPage = ["alert.escalated", "alert.renotified"].includes(event);
      if (status === "delivered" && !took.has(`${isPage ? "page" : "note"} ${contact} ${alert}`))
        say(`page ${id} is delivered and no service took it`);
      if (!isPage) continue;
      if (status === "failed" && !told(alert, at, "'page_failed'"))
        say(`page ${id} failed without a word`);
      const gone = error.startsWith("the contact was");
      // What would have rung later may ring at once where its alert became worse.
      const why = gone ? "'page_failed'" : "'acknowledged', 'resolved', 'renotified'";
      if (status === "withdrawn" && !told(alert, at, why)) say(`page ${id} went without a word`);
    }
  }

  return {
    faults,
    made,
    onCall,
    onStep,
    read,
    atEnd,
    onPress({ contact, alerts }, named) {
      const taken = deps.calls().filter((other) => other.took && other.contact === contact);
      const [told, said] = [taken.flatMap((other) => other.alerts).map(living), alerts.map(living)];
      for (const id of named.map(living)) {
        if (!said.includes(id)) say(`a message that names ${said} answers alert ${id}`);
        if (!told.includes(id)) say(`${contact} answers alert ${id}, of which it was never told`);
      }
    },
    onStart(skewed) {
      upSince = machine.mono();
      // How long ago the last message left can't be known by a clock that was set meanwhile.
      if (skewed) countFrom = deps.calls().length;
      else
        countFrom = Math.max(
          countFrom,
          deps.calls().findLastIndex(({ ended }) => ended === null) + 1,
        );
    },
  };
}

export function waysNow(store: Store): Ways {
  const rules = store.sql("SELECT account_id AS account, rules FROM notify_rules").all() as {
    account: string;
    rules: string;
  }[];
  return {
    usable: store
      .sql(
        "SELECT id, account_id AS account, kind, wants FROM contacts WHERE state IN ('verified', 'failing')",
      )
      .all() as Ways["usable"],
    rules: new Map(rules.map((row) => [row.account, JSON.parse(row.rules)])),
  };
}

/** `contact after seconds` for each way that a person wants to be paged by. */
export function wanted({ usable, rules }: Ways, account: string, level: number): string[] {
  const own = rules.get(account) ?? [];
  return usable
    .filter((contact) => contact.account === account)
    .flatMap(({ id, kind, wants }) => {
      if (wants !== null && !wants.includes("pages")) return [];
      // Who says of a device that it is paged needn't name it in a rule.
      const isNamed = own.some((rule) => rule.contacts.includes(id));
      if (wants !== null && own.length > 0 && !isNamed) return [`${id} after 0`];
      const times = own
        .filter((rule) => level >= rule.min_level && rule.contacts.includes(id))
        .map(({ after_seconds }) => after_seconds);
      if (own.length === 0) return [`${id} after ${kinds[kind]?.restSeconds}`];
      return times.length === 0 ? [] : [`${id} after ${Math.min(...times)}`];
    });
}
