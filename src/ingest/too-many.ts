import { openAlert } from "../alerts/open.ts";
import { MANY, manyKey } from "../alerts/too-many.ts";
import { ForgetfulMap } from "../kit/forgetful-map.ts";
import { cut } from "../kit/text.ts";
import type { StoredRule } from "../projects/rule.ts";
import type { Tx } from "../store/store.ts";
import type { StandingAlerts } from "./standing.ts";
import type { Unresolved } from "./unresolved.ts";
import type { Firing } from "./window.ts";

/** What would have opened an alert of its own. */
export interface OneTooMany {
  rule: StoredRule;
  fired: Firing;
  identifiers: Readonly<Record<string, string>>;
  /** What tells it apart where there are no identifiers: its name or its template. */
  subject: string;
  /** The source's name. */
  source: string;
}

/** The alert that a rule's further keys share, where it has as many unresolved ones as it may (contract §26, rule 2). */
export interface TooMany {
  /** Takes it in; false where the rule has room, or no bound. */
  took(tx: Tx, one: OneTooMany): boolean;
  clear(): void;
}

/** Keys that it names. */
const NAMED = 5;
const LONGEST_NAME = 120;
/** Alerts whose latest keys are remembered. */
const REMEMBERED = 1_000;

export function createTooMany(standing: StandingAlerts, unresolved: Unresolved): TooMany {
  let latest = new ForgetfulMap<string, readonly string[]>(REMEMBERED);

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
      const count = unresolved.of(tx, rule);
      if (count < rule.max_open) return false;
      const key = manyKey(rule.id);
      const alert = standing.find(tx, key, rule.auto_resolve_quiet_minutes * 60);
      const others = alert === null ? count : count - 1;
      if (others < rule.max_open) return false;
      if (alert === null) latest.set(key, []);
      const events = (alert?.count ?? 0) + fired.count;
      const lastMessage = textOf(rule, events, name(key, one));
      const template = `${rule.name}: too many to list`;
      if (alert !== null) {
        alert.count = events;
        alert.level = Math.max(alert.level, fired.level);
        alert.lastSeen = tx.at;
        Object.assign(alert, { lastMessage, template });
        standing.touch(key, alert);
        return true;
      }
      openAlert(tx, {
        ...{ projectId: rule.project_id, rule, alertKey: key, templateId: MANY, template },
        ...{ level: fired.level, count: fired.count, firstSeen: fired.firstSeen },
        ...{ lastMessage, source, isOfOneSource: false, identifiers: {} },
      });
      return true;
    },
    clear() {
      latest = new ForgetfulMap(REMEMBERED);
    },
  };
}

function textOf(rule: StoredRule, events: number, names: readonly string[]): string {
  const more = events === 1 ? "1 more event is" : `${events} more events are`;
  return `${rule.name}: too many to list: ${rule.max_open} alerts of this rule aren't resolved, and ${more} counted here. The latest: ${names.join("; ")}`;
}

function nameOf({ identifiers, subject }: OneTooMany): string {
  const given = Object.entries(identifiers).map(([key, value]) => `${key}=${value}`);
  const text = given.length === 0 ? subject : given.join(", ");
  return cut(text.replace(/[\s\p{Cc}]+/gu, " "), LONGEST_NAME);
}
