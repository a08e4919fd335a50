import { type Joining, joinTaken } from "../../core/alerts/join.ts";
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

/** What would have opened an alert of its own. */
export interface OneTooMany {
  rule: StoredRule;
  /** The key that its own alert would have, and what stands in it for its template or its name. */
  key: string;
  subject: string;
  fired: Firing;
  identifiers: Readonly<Record<string, string>>;
  /** What tells it apart where there are no identifiers: its name or its template. */
  called: string;
  /** The source's name. */
  source: string;
}

/** The alert that a rule's further keys share, where it has as many unresolved ones as it may (contract §26, rule 2). */
export interface TooMany {
  /** Takes it in; false where the rule has room, or no bound. */
  took(tx: Tx, one: OneTooMany): boolean;
  /** A sender says that what goes by this is over: if it comes again, that is new trouble. */
  ended(ruleId: number, subject: string): void;
  /** Somebody has an alert that new trouble went into in this batch: it opens again. When all else is written. */
  flush(tx: Tx): void;
  /** The batch is over: committed, or undone. */
  settle(): void;
  undo(): void;
}

/** Keys that it names. */
const NAMED = 5;
const LONGEST_NAME = 120;
/** Alerts whose latest keys are remembered. */
const REMEMBERED = 1_000;

export function createTooMany(openAlerts: OpenAlerts, unresolved: Unresolved): TooMany {
  const latest = new ForgetfulMap<string, readonly string[]>(REMEMBERED);
  const counted = createCountedKeys();
  const joined = new Map<number, Joining>();

  /** The latest keys of the rule, this one first. */
  const name = (key: string, one: OneTooMany): readonly string[] => {
    const own = nameOf(one);
    const names = [own, ...(latest.get(key) ?? []).filter((other) => other !== own)];
    latest.set(key, names.slice(0, NAMED));
    return names.slice(0, NAMED);
  };

  return {
    took(tx, one) {
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
      });
      counted.add({ prefix, key: one.key, alertId: id }, fired.level);
      return true;
    },
    ended: (ruleId, subject) => counted.drop(keyPrefix(ruleId, subject)),
    flush(tx) {
      for (const [id, joining] of joined) joinTaken(tx, id, joining);
      joined.clear();
    },
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
