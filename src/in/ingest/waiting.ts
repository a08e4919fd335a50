import { withKeys } from "../../core/alerts/labels.ts";
import {
  countWaiting,
  dropWaiting,
  findWaiting,
  heardAgain,
  namedWaiting,
  type Waiting,
  type WouldOpen,
  waitingNames,
  writeWaiting,
} from "../../core/alerts/waiting.ts";
import { uuidOf } from "../../ground/kit/ids.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { IngestEvent } from "./event.ts";
import type { CompiledRule } from "./match.ts";
import { isLate } from "./named.ts";
import type { NamedState } from "./named-fields.ts";

/** What waits of one rule at most; a further key opens at once. */
const MOST = 10_000;

/** What waits before it opens, as a batch sees it: rows are read when first asked for, and written at its end. */
export type WaitingBook = ReturnType<typeof createWaitingBook>;

export function createWaitingBook() {
  const known = new Map<string, Waiting | null>();
  const changed = new Set<string>();
  const counts = new Map<number, number>();

  const keep = (one: Waiting) => {
    known.set(one.alert_key, one);
    changed.add(one.alert_key);
  };

  return {
    find(tx: Tx, key: string): Waiting | null {
      let one = known.get(key);
      if (one === undefined) {
        one = findWaiting(tx, key);
        known.set(key, one);
      }
      return one;
    },
    /** False where so many wait that it has to open at once. */
    begin(
      tx: Tx,
      { rule, waitSeconds }: CompiledRule,
      {
        key,
        room,
        dedupKey,
        found,
      }: { key: string; room: number | null; dedupKey: string | null; found: WouldOpen },
    ): boolean {
      const count = counts.get(rule.id) ?? countWaiting(tx, rule.id);
      if (count >= MOST) return false;
      counts.set(rule.id, count + 1);
      const over = tx.at + waitSeconds;
      keep({
        alert_key: key,
        project_id: rule.project_id,
        rule_id: rule.id,
        dedup_key: dedupKey,
        room,
        begun_at: tx.at,
        over_at: over,
        due_at: over,
        matched_at: tx.at,
        every: found.lasts === null ? USUAL : Math.ceil(found.lasts / 2),
        found,
      });
      return true;
    },
    /** An event that waits with it. Returns whether it is news, and not the same firing reported again. */
    hear(
      tx: Tx,
      rule: CompiledRule,
      one: Waiting,
      event: IngestEvent & { source: string; template: string },
    ): boolean {
      const { named = null, level, message, title = null, keys, extra = null } = event;
      const { found } = one;
      const instance = named?.instance ?? null;
      const isSame = instance !== null && instance === found.instance && level <= found.level;
      keep(
        heardAgain(one, tx.at, {
          ...found,
          level: Math.max(found.level, level),
          count: found.count + (isSame ? 0 : 1),
          template: event.template,
          lastMessage: message,
          title: title ?? found.title,
          extra: extra === null ? found.extra : extraText(extra),
          isOfOneSource: found.isOfOneSource && found.source === event.source,
          source: event.source,
          labels: withKeys(found.labels, keys, rule.names),
          ...(named === null ? {} : { instance, lasts: lastsOf(named, tx.at) }),
        }),
      );
      return !isSame;
    },
    forget(tx: Tx, key: string) {
      dropWaiting(tx, key);
      known.set(key, null);
      changed.delete(key);
      counts.clear();
    },
    flush(tx: Tx) {
      for (const key of changed) writeWaiting(tx, known.get(key) as Waiting);
      changed.clear();
    },
    /** The batch is over: committed, or undone. */
    clear() {
      known.clear();
      changed.clear();
      counts.clear();
    },
  };
}

/** Seconds between two words of a sender of which nothing is known yet. */
const USUAL = 60;

/** Seconds until the sender must report again; null: it didn't say, or its clock is wrong. */
export function lastsOf({ expiresAt }: NamedState, at: number): number | null {
  return expiresAt !== null && expiresAt > at ? expiresAt - at : null;
}

export function extraText({
  details,
  links,
  images,
  occurredAt,
}: NonNullable<IngestEvent["extra"]>): string {
  return JSON.stringify({ details, links, images, occurred_at: occurredAt });
}

interface Scope {
  projectId: number;
  room: number | null;
}

/** Where the sender names what waits by the id that was made of its name, the name stands in its place. */
export function identifiedWaiting(reader: Reader, scope: Scope, named: NamedState): NamedState {
  const { dedupKey, mayBeId } = named;
  if (dedupKey === null || mayBeId !== true) return named;
  const wanted = dedupKey.toLowerCase();
  const name = waitingNames(reader, scope).find((one) => uuidOf(one) === wanted);
  return name === undefined ? named : { ...named, dedupKey: name };
}

/**
 * A sender says of what waits under a name that it ended: it is forgotten. Or that something else is true of it. Returns how
 * many there were. The caller first writes what the batch has of them in memory.
 */
export function concludeWaiting(
  tx: Tx,
  book: WaitingBook,
  { scope, named, event }: { scope: Scope; named: NamedState; event: IngestEvent },
): number {
  const { dedupKey } = named;
  if (dedupKey === null) return 0;
  const all = namedWaiting(tx, { ...scope, dedupKey });
  for (const one of all) {
    const { found } = one;
    if (named.action === "resolve" && !isLate(named, found.instance))
      book.forget(tx, one.alert_key);
    if (named.action === "update") {
      const { updates } = named;
      const { level, message, title = null, extra } = event;
      const before = JSON.parse(found.extra ?? "{}") as object;
      const said = {
        ...(updates === "level" ? { level: Math.max(found.level, level) } : {}),
        ...(updates === "message" ? { lastMessage: message, title } : {}),
        ...(updates === "details"
          ? {
              extra: JSON.stringify({
                links: [],
                images: [],
                occurred_at: null,
                ...before,
                details: extra?.details || null,
              }),
            }
          : {}),
      };
      writeWaiting(tx, { ...one, found: { ...found, ...said } });
      book.clear();
    }
  }
  return all.length;
}
