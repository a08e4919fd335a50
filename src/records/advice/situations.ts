import type { RuleBody, StoredRule } from "../../core/projects/rule.ts";
import { silencesItself } from "../../core/projects/silenced-by.ts";
import { CRITICAL } from "../../core/quiet/decide.ts";
import type { PastAlert } from "./history.ts";
import type { AdviceKind } from "./shape.ts";

/**
 * What the past of a rule says of it. Pure. Each asks for enough alerts that chance is no cause, and for a plain majority. Of a rule
 * with a critical alert only what pages as before is proposed: that it reopens in place of opening.
 */

/** What was found of one rule. */
interface Situation {
  kind: AdviceKind;
  /** What tells two of one kind and rule apart. */
  about?: string;
  text: string;
  figures: Record<string, number>;
  change: Partial<RuleBody> | null;
}

/** A rule with its alerts of the past days, as they opened. */
export interface RulePast {
  rule: StoredRule;
  alerts: readonly PastAlert[];
  pages: number;
}

/** With fewer alerts a share says nothing. */
const ENOUGH = 8;
const MINUTE = 60;
/** What ended so soon, and by nobody, ended by itself. */
const BRIEF = 15 * MINUTE;
/** What fires again so soon is the same trouble. */
const AGAIN = 30 * MINUTE;
/** One that opens so soon after another's may have its cause. */
const FOLLOWS = 10 * MINUTE;
/** Alerts that open so close together came together. */
const TOGETHER = 5 * MINUTE;

/** The value that nine in ten don't exceed. */
function mostOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.9) - 1)] ?? 0;
}

const share = (part: readonly unknown[], all: readonly unknown[]): number =>
  all.length === 0 ? 0 : part.length / all.length;

const isCritical = ({ alerts }: RulePast): boolean => alerts.some(({ level }) => level >= CRITICAL);

const figuresOf = ({ alerts, pages }: RulePast) => ({ alerts: alerts.length, pages });

/**
 * Most of its alerts were ended within minutes by their sender, and nobody did anything: it could wait for so long. That quiet
 * ended one says nothing: what comes once, and matters, ends like that, and would open nothing if it had to last.
 */
function endsByItself(past: RulePast): Situation | null {
  const { rule, alerts } = past;
  if (rule.for_minutes > 0 || alerts.length < ENOUGH || isCritical(past)) return null;
  if (!alerts.every(({ isNamed }) => isNamed)) return null;
  const brief = alerts.flatMap(({ openedAt, endedAt, isActedOn, isEndedBySource }) => {
    if (endedAt === null || isActedOn || !isEndedBySource) return [];
    return endedAt - openedAt <= BRIEF ? [endedAt - openedAt] : [];
  });
  if (share(brief, alerts) < 0.6) return null;
  const minutes = Math.max(1, Math.ceil((mostOf(brief) + 1) / MINUTE));
  return {
    kind: "ends_by_itself",
    text: `${brief.length} of ${alerts.length} alerts ended by themselves within ${minutes} min, before anybody did anything. Let it wait ${minutes} min: what ends by then opens no alert.`,
    figures: { ...figuresOf(past), ended_by_themselves: brief.length },
    change: { for_minutes: minutes },
  };
}

/** The same alert ends and opens again and again. */
export function flaps(past: RulePast): Situation | null {
  const { rule, alerts } = past;
  const last = new Map<string, PastAlert>();
  const gaps = alerts.flatMap((alert) => {
    const before = last.get(alert.key);
    last.set(alert.key, alert);
    if (before === undefined || before.endedAt === null || before.isActedOn) return [];
    const gap = alert.openedAt - before.endedAt;
    return gap >= 0 && gap <= AGAIN ? [gap] : [];
  });
  if (gaps.length < 5 || share(gaps, alerts) < 0.5) return null;
  const seconds = Math.ceil((mostOf(gaps) + 1) / MINUTE) * MINUTE;
  if (rule.reopen_within_seconds >= seconds) return null;
  return {
    kind: "flaps",
    text: `${gaps.length} of ${alerts.length} alerts opened within ${seconds / MINUTE} min of the end of the one before. Make them one: what fires again so soon reopens it.`,
    figures: { ...figuresOf(past), opened_again: gaps.length },
    change: { reopen_within_seconds: seconds },
  };
}

/** It pages people, and none of them ever did anything about it. */
function nobodyActs(past: RulePast): Situation | null {
  const { rule, alerts, pages } = past;
  if (rule.escalations.length === 0 || pages === 0 || isCritical(past)) return null;
  const isIdle = alerts.every(({ isActedOn, endedAt }) => !isActedOn && endedAt !== null);
  if (alerts.length < 10 || !isIdle) return null;
  return {
    kind: "nobody_acts",
    text: `${alerts.length} alerts paged people ${pages} times, and nobody did anything about one of them. Take its ladder away: channels are still notified, and nobody is woken.`,
    figures: figuresOf(past),
    change: { escalations: [], ladder: null },
  };
}

/** Alerts of another rule of its project open before nearly all of its own, and still stand then. */
function oneCause(past: RulePast, others: readonly RulePast[]): Situation | null {
  const { rule, alerts } = past;
  if (alerts.length < ENOUGH || isCritical(past)) return null;
  const rules = others.map((one) => one.rule);
  for (const { rule: cause, alerts: causes } of others) {
    if (cause.id === rule.id) continue;
    if (rule.silenced_by.some(({ rule: name }) => name === cause.name)) continue;
    const silenced = (equal: string[]) => [...rule.silenced_by, { rule: cause.name, equal }];
    if (silencesItself(rules, { name: rule.name, silenced_by: silenced([]) }) !== null) continue;
    const pairs = alerts.flatMap((alert) => {
      const before = causeOf(causes, alert);
      return before === null ? [] : [{ alert, before }];
    });
    if (share(pairs, alerts) < 0.8 || byChance(alerts, causes) > 0.25) continue;
    const equal = namesShared(pairs);
    const like = equal.length === 0 ? "" : ` of the same ${equal.join(" and ")}`;
    return {
      kind: "one_cause",
      text: `Before ${pairs.length} of ${alerts.length} alerts one of “${cause.name}”${like} had opened, within ${FOLLOWS / MINUTE} min. Keep it quiet while that stands.`,
      figures: { ...figuresOf(past), with_cause: pairs.length },
      change: { silenced_by: silenced(equal) },
    };
  }
  return null;
}

/** The latest that opened just before and still stood; null: none did. Both are in the order in which they opened. */
function causeOf(causes: readonly PastAlert[], alert: PastAlert): PastAlert | null {
  let [low, high] = [0, causes.length];
  while (low < high) {
    const at = (low + high) >> 1;
    if ((causes[at]?.id ?? 0) < alert.id) low = at + 1;
    else high = at;
  }
  for (let at = low - 1; at >= 0; at--) {
    const one = causes[at] as PastAlert;
    if (alert.openedAt - one.openedAt > FOLLOWS) return null;
    if (one.endedAt === null || one.endedAt > alert.openedAt) return one;
  }
  return null;
}

/** How much of the time something of the other rule had opened just before, whatever happened. */
function byChance(alerts: readonly PastAlert[], causes: readonly PastAlert[]): number {
  const from = Math.min(alerts[0]?.openedAt ?? 0, causes[0]?.openedAt ?? 0);
  const to = Math.max(alerts.at(-1)?.openedAt ?? 0, causes.at(-1)?.openedAt ?? 0);
  const covered = causes.reduce(
    (sum, { openedAt, endedAt }) => sum + Math.min(FOLLOWS, (endedAt ?? to) - openedAt),
    0,
  );
  return covered / Math.max(1, to - from + FOLLOWS);
}

/** Identifiers that both of each pair have with the same value. */
function namesShared(pairs: readonly { alert: PastAlert; before: PastAlert }[]): string[] {
  const names = Object.keys(pairs[0]?.alert.identifiers ?? {});
  return names.filter((name) =>
    pairs.every(
      ({ alert, before }) =>
        alert.identifiers[name] !== undefined &&
        alert.identifiers[name] === before.identifiers[name],
    ),
  );
}

/** Nearly each alert has a value of its own, and they open together: the identifier tells one trouble apart. */
function manyOfOne(past: RulePast): Situation | null {
  const { rule, alerts } = past;
  if (alerts.length < 20 || isCritical(past)) return null;
  if (alerts.some(({ isNamed }) => isNamed)) return null;
  const together = alerts.filter(
    ({ openedAt }, i) => i > 0 && openedAt - (alerts[i - 1]?.openedAt ?? 0) <= TOGETHER,
  );
  if (share(together, alerts) < 0.6) return null;
  for (const key of rule.identifier_keys) {
    const values = alerts.flatMap(({ identifiers }) => identifiers[key] ?? []);
    const distinct = new Set(values);
    if (values.length < alerts.length * 0.9 || share([...distinct], values) < 0.8) continue;
    return {
      kind: "many_of_one",
      about: key,
      text: `${alerts.length} alerts had ${distinct.size} values of ${key}, and ${together.length} opened within ${TOGETHER / MINUTE} min of another. Don't tell them apart by ${key}.`,
      figures: { ...figuresOf(past), values: distinct.size, opened_together: together.length },
      change: { identifier_keys: rule.identifier_keys.filter((one) => one !== key) },
    };
  }
  return null;
}

/** A step pages somebody again and again, who never takes one, though others do. */
function neverAnswered(past: RulePast): Situation | null {
  const { rule, alerts } = past;
  const { escalations } = rule;
  if (escalations.length < 2 || isCritical(past)) return null;
  // Who takes them there isn't known here.
  if (alerts.some(({ isTakenAtSource }) => isTakenAtSource)) return null;
  for (const [at, step] of escalations.entries()) {
    const ran = alerts.filter(({ steps }) => steps.has(at + 1));
    const paged = new Set(ran.flatMap(({ steps }) => steps.get(at + 1) ?? []));
    const taken = alerts.filter(({ takenBy }) => takenBy !== null);
    const isAnswered = taken.some(({ takenBy }) => paged.has(takenBy as string));
    // Of those that others took after this one had run: else nothing says that it mattered.
    const later = ran.filter(({ takenBy }) => takenBy !== null);
    if (ran.length < ENOUGH || isAnswered || later.length < 5) continue;
    const next = escalations[at + 1];
    const sooner = Math.max(0, (next ?? step).after_minutes - step.after_minutes);
    const rest = escalations.flatMap((one, i) => {
      if (i === at) return [];
      return [i > at ? { ...one, after_minutes: one.after_minutes - sooner } : one];
    });
    return {
      kind: "never_answered",
      about: String(at + 1),
      text: `Rung ${at + 1} ran for ${ran.length} alerts, and nobody whom it paged took one; others took ${later.length}. Take the rung out${sooner > 0 ? `: the next one then runs ${sooner} min sooner` : ""}.`,
      figures: { ...figuresOf(past), step: at + 1, ran: ran.length, taken_by_others: later.length },
      change: rule.ladder ? null : { escalations: rest },
    };
  }
  return null;
}

/** Of one rule the first that fits: a rule is changed by one thing at a time. */
export function situationOf(past: RulePast, others: readonly RulePast[]): Situation | null {
  return (
    oneCause(past, others) ??
    manyOfOne(past) ??
    flaps(past) ??
    endsByItself(past) ??
    nobodyActs(past) ??
    neverAnswered(past)
  );
}
