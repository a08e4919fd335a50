import { NO_LABELS, withKeys } from "../../core/alerts/labels.ts";
import { openAlert } from "../../core/alerts/open.ts";
import { stillComes, type Waiting, type WouldOpen } from "../../core/alerts/waiting.ts";
import type { Tx } from "../../ground/store/store.ts";
import { identifiersOf } from "./alert-key.ts";
import type { Arrival } from "./arrival.ts";
import type { IngestEvent } from "./event.ts";
import type { CompiledRule } from "./match.ts";
import type { NamedState } from "./named-fields.ts";
import type { RowsTaken } from "./rows-taken.ts";
import type { Mined } from "./template/miner.ts";
import type { TooMany } from "./too-many.ts";
import { extraText, lastsOf, type WaitingBook } from "./waiting.ts";
import type { Firing } from "./window.ts";

/** How an alert opens: at once, or once it has waited. */

/** What an alert opens with. */
interface Opened {
  key: string;
  dedupKey: string | null;
  room: number | null;
  found: Omit<WouldOpen, "labels">;
  /** Of all its events; undefined: it is one, with these keys. */
  labels: WouldOpen["labels"] | undefined;
  keys: IngestEvent["keys"];
  /** Since when it has waited; null: it opens at once. */
  waited: { since: number; lastSeen: number } | null;
}

export type Opener = ReturnType<typeof createOpener>;

export function createOpener(memory: { tooMany: TooMany; waiting: WaitingBook; rows: RowsTaken }) {
  const { tooMany, waiting, rows } = memory;

  /** Opens an alert, unless its rule has too many open ones and the one that lists the rest took it. */
  const open = (tx: Tx, { rule, names }: CompiledRule, one: Opened) => {
    rows.expect(tx);
    const { key, dedupKey, room, found, labels, keys } = one;
    const { identifiers, count, firstSeen, level, source, isOfOneSource, lasts } = found;
    const fired = { count, firstSeen, level, ...(labels === undefined ? {} : { labels }) };
    const { subject, called } = found;
    if (tooMany.took(tx, { rule, names, key, subject, fired, identifiers, keys, called, source }))
      return;
    openAlert(tx, {
      projectId: rule.project_id,
      rule,
      alertKey: key,
      templateId: found.templateId,
      template: found.template,
      level,
      count,
      firstSeen,
      lastMessage: found.lastMessage,
      source,
      isOfOneSource,
      because: found.because ?? {},
      identifiers,
      named:
        dedupKey === null
          ? null
          : {
              dedupKey,
              room,
              stillFiring: found.stillFiring,
              instance: found.instance,
              expiresAt: lasts === null ? null : tx.at + lasts,
            },
      title: found.title,
      labels: labels ?? withKeys(NO_LABELS, keys, names),
      extra: found.extra,
      waited: one.waited,
    });
  };

  /** Its wait is over: it opens, or it ended by itself. */
  const settle = (tx: Tx, rule: CompiledRule, one: Waiting) => {
    const { alert_key: key, dedup_key: dedupKey, room, found, begun_at, matched_at } = one;
    waiting.forget(tx, key);
    if (!stillComes(one)) return;
    const waited = { since: begun_at, lastSeen: matched_at };
    open(tx, rule, { key, dedupKey, room, found, labels: found.labels, keys: null, waited });
  };

  return { open, settle };
}

/** What an event opens. */
export function foundOf(
  tx: Tx,
  { rule }: CompiledRule,
  of: {
    arrival: Arrival;
    mined: Mined;
    subject: string;
    fired: Firing;
    stillFiring: number | null;
    because: Readonly<Record<string, number>>;
  },
): Omit<WouldOpen, "labels"> {
  const { source, event } = of.arrival;
  const { level, count, firstSeen, sources } = of.fired;
  const named = namedBy(event);
  return {
    subject: of.subject,
    templateId: of.mined.root.id,
    template: of.mined.root.text,
    called: named?.dedupKey ?? of.mined.root.text,
    identifiers: identifiersOf(rule.identifier_keys, event.keys),
    level,
    count,
    firstSeen,
    lastMessage: event.message,
    title: event.title ?? null,
    extra: event.extra ? extraText(event.extra) : null,
    source: source.name,
    isOfOneSource: sources === 1,
    instance: named?.instance ?? null,
    lasts: named === null ? null : lastsOf(named, tx.at),
    because: of.because,
    stillFiring: of.stillFiring,
    words: 1,
  };
}

/** What the sender says of the alert that the event names; null without a name. */
export function namedBy({ named }: IngestEvent): (NamedState & { dedupKey: string }) | null {
  if (named === undefined || named === null || named.dedupKey === null) return null;
  return { ...named, dedupKey: named.dedupKey };
}
