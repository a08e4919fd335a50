import { type FoldInput, foldIntoAcknowledged } from "../../core/alerts/join.ts";
import { NO_LABELS, withKeys } from "../../core/alerts/labels.ts";
import { openAlert } from "../../core/alerts/open.ts";
import { MANY, manyKey } from "../../core/alerts/too-many.ts";
import type { StoredRule } from "../../core/projects/rule.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { cut } from "../../ground/kit/text.ts";
import type { Tx } from "../../ground/store/store.ts";
import { keyPrefix } from "./alert-key.ts";
import { createCountedKeys } from "./counted-keys.ts";
import type { OpenAlerts } from "./open-alerts.ts";
import type { Unresolved } from "./unresolved.ts";
import type { Firing } from "./window.ts";

/** A match that would have opened another alert. */
interface OneTooMany {
  rule: StoredRule;
  /** Keys that the rule names. */
  names: readonly string[];
  /** The key of its own alert, and the part of it for the template or the name. */
  key: string;
  subject: string;
  fired: Pick<Firing, "count" | "firstSeen" | "level" | "labels">;
  identifiers: Readonly<Record<string, string>>;
  /** The event's. */
  keys: Readonly<Record<string, string>> | null;
  /** Its name or template, to tell it apart where there are no identifiers. */
  called: string;
  /** The source's name. */
  source: string;
}

/** A rule's shared alert for further keys, at its limit of unresolved alerts (contract §26, rule 2). */
export type TooMany = ReturnType<typeof createTooMany>;

/** Keys that the shared alert lists. */
const NAMED = 5;
const LONGEST_NAME = 120;
/** Alerts whose latest keys are remembered. */
const REMEMBERED = 1_000;

export function createTooMany(openAlerts: OpenAlerts, unresolved: Unresolved) {
  const latest = new ForgetfulMap<string, readonly string[]>(REMEMBERED);
  const counted = createCountedKeys();
  const joined = new Map<number, FoldInput>();

  /** The latest keys of the rule, this one first. */
  const name = (key: string, one: OneTooMany): readonly string[] => {
    const own = nameOf(one);
    const names = [own, ...(latest.get(key) ?? []).filter((other) => other !== own)];
    latest.set(key, names.slice(0, NAMED));
    return names.slice(0, NAMED);
  };

  return {
    /** Folds a match into the shared alert; false below the limit, or without one. */
    took(tx: Tx, one: OneTooMany): boolean {
      const { rule, fired, source } = one;
      if (rule.max_open === 0) return false;
      const prefix = keyPrefix(rule.id, one.subject);
      const count = unresolved.of(tx, rule);
      const key = manyKey(rule.id);
      const isFull = count >= rule.max_open;
      const alert = isFull ? openAlerts.find(tx, key, rule.auto_resolve_quiet_minutes * 60) : null;
      const others = alert === null ? count : count - 1;
      if (others < rule.max_open) {
        counted.drop(prefix, one.key);
        return false;
      }
      if (alert === null) latest.set(key, []);
      const events = (alert?.count ?? 0) + fired.count;
      const lastMessage = textOf(rule, events, name(key, one));
      const template = `${rule.name}: too many to list`;
      if (alert !== null) {
        const own = { prefix, key: one.key, alertId: alert.id };
        if (alert.state === "acknowledged" && counted.isNews(own, fired.level)) {
          const isWorse = joined.get(alert.id)?.isWorse === true || fired.level > alert.level;
          joined.set(alert.id, { what: nameOf(one), isWorse });
        }
        counted.add(own, fired.level);
        alert.count = events;
        alert.level = Math.max(alert.level, fired.level);
        alert.lastSeen = tx.at;
        Object.assign(alert, { lastMessage, template });
        // It has a text of its own, and no title of any of them.
        openAlerts.hear(tx, key, {
          alert,
          event: { keys: one.keys, labels: fired.labels },
          names: one.names,
        });
        openAlerts.touch(key, alert);
        return true;
      }
      const { id } = openAlert(tx, {
        projectId: rule.project_id,
        rule,
        alertKey: key,
        templateId: MANY,
        template,
        level: fired.level,
        count: fired.count,
        firstSeen: fired.firstSeen,
        lastMessage,
        source,
        isOfOneSource: false,
        identifiers: {},
        labels: fired.labels ?? withKeys(NO_LABELS, one.keys, one.names),
      });
      counted.add({ prefix, key: one.key, alertId: id }, fired.level);
      return true;
    },
    /** A sender ended the alerts of this name: if one fires again, that is new. */
    ended: (ruleId: number, subject: string) => counted.drop(keyPrefix(ruleId, subject)),
    /** After everything else is written: reopens the shared alert if it is acknowledged and got new keys. */
    flush(tx: Tx) {
      for (const [id, joining] of joined) foldIntoAcknowledged(tx, id, joining);
      joined.clear();
    },
    /** The batch is over: committed, or undone. */
    settle: counted.settle,
    undo() {
      counted.undo();
      joined.clear();
    },
  };
}

function textOf(rule: StoredRule, events: number, names: readonly string[]): string {
  const more = events === 1 ? "1 more event is" : `${events} more events are`;
  return `${rule.name}: too many to list: ${rule.max_open} alerts of this rule aren't resolved, and ${more} counted here. The latest: ${names.join("; ")}`;
}

function nameOf({ identifiers, called }: OneTooMany): string {
  const given = Object.entries(identifiers).map(([key, value]) => `${key}=${value}`);
  const text = given.length === 0 ? called : given.join(", ");
  return cut(text.replace(/[\s\p{Cc}]+/gu, " "), LONGEST_NAME);
}
