import type { EscalationStep, RuleBody } from "../../src/projects/rule.ts";
import type { Fact, LogEvent } from "./facts.ts";
import { MERGED_AT, type Rota, type World } from "./world.ts";

/**
 * What the box must have said, worked out from the contract's text and the facts alone. It knows
 * nothing of columns: of each alert it keeps what happened, and asks at every look which rules apply. Time is
 * counted in seconds that the clock's jumps don't touch ("elapsed"), made from wall time where an event needs it.
 */
export interface Expected {
  events: LogEvent[];
  /** Sentences about what was done too late: a look that came after its time with the box up. */
  late: string[];
}

interface Told {
  id: number;
  rule: number;
  /** What it is counted under: rule, word of the line, host. */
  key: string;
  state: "open" | "acknowledged" | "resolved";
  openedAt: number;
  /** How many steps had their turn; when the next one has, and when the last one is repeated. */
  turns: number;
  stepAt: number;
  repeatAt: number;
  renotified: number;
  renotifyAt: number;
  quietSince: number;
  /** When its rule was last replaced, which may make due what lies in the past. */
  changedAt: number;
  lastMatchWall: number;
  level: number;
  accounts: string[];
  lastOfKind: Map<string, number>;
}

const MINUTE = 60;
const NEVER = Number.POSITIVE_INFINITY;

export function reference(world: World, facts: readonly Fact[]): Expected {
  const events: LogEvent[] = [];
  const late: string[] = [];
  const alerts: Told[] = [];
  const standing = new Map<string, Told>();
  const gone = new Set<string>();
  const rules = [...world.rules];
  /** The words that lines of each rule have named, in order. */
  const words = rules.map((): string[] => []);
  let jumped = 0;
  let upSince = 0;

  const ruleOf = (alert: Told) => rules[alert.rule] as RuleBody;
  const moment = (alert: Told, step: number) =>
    alert.openedAt + dueMinute(ruleOf(alert).escalations, step) * MINUTE;

  const say = (alert: Told, event: string, wall: number) => {
    const timestamp = Math.max(wall, (alert.lastOfKind.get(event) ?? 0) + 1);
    alert.lastOfKind.set(event, timestamp);
    const { id, level, accounts } = alert;
    events.push({ alert: id, event, timestamp, level, accounts });
  };

  const reached = (step: EscalationStep, wall: number): string[] =>
    [
      ...step.accounts,
      ...step.schedules.map((name) =>
        onCall(world.rotas.find((rota) => rota.name === name) as Rota, wall),
      ),
    ].filter((account): account is string => account !== null && !gone.has(account));

  const page = (alert: Told, range: { from: number; until: number }, wall: number): boolean => {
    const people = ruleOf(alert)
      .escalations.slice(range.from, range.until)
      .flatMap((step) => reached(step, wall));
    if (people.length === 0) return false;
    alert.level = range.until;
    alert.accounts = [...new Set(people)];
    say(alert, "alert.escalated", wall);
    return true;
  };

  /** The steps (counted from 0) that run together with the one before `until`. */
  const rungBefore = (alert: Told, until: number) => {
    let from = until - 1;
    while (from > 0 && moment(alert, from - 1) === moment(alert, until - 1)) from -= 1;
    return { from, until };
  };

  /** Runs steps `from` to before `until`; on to the next time while nobody is reached. */
  const run = (
    alert: Told,
    first: { from: number; until: number; again: boolean },
    wall: number,
  ) => {
    const ladder = ruleOf(alert).escalations;
    let range: { from: number; until: number } = first;
    while (!page(alert, range, wall) && range.until < ladder.length) {
      let until = range.until + 1;
      while (until < ladder.length && moment(alert, until) === moment(alert, range.until))
        until += 1;
      range = { from: range.until, until };
    }
    alert.turns = Math.max(alert.turns, range.until);
    // Nobody paged at all, and steps below that a change of the ladder left behind: the nearest of them.
    if (alert.level === 0 && !first.again)
      for (let until = first.from; until > 0; ) {
        const below = rungBefore(alert, until);
        if (page(alert, below, wall)) break;
        until = below.from;
      }
    const { turns } = alert;
    alert.stepAt = turns < ladder.length ? moment(alert, turns) : NEVER;
    alert.repeatAt = wall - jumped + repeatSeconds(alert);
  };

  /** Every how many seconds the steps of the last turn are repeated. */
  const repeatSeconds = (alert: Told): number => {
    if (alert.turns === 0) return NEVER;
    const { from, until } = rungBefore(alert, alert.turns);
    const steps = ruleOf(alert).escalations.slice(from, until);
    return Math.min(...steps.map(({ repeat_minutes: n }) => (n > 0 ? n * MINUTE : NEVER)), NEVER);
  };

  const renotifyFrom = (alert: Told, now: number): number => {
    const { renotify_minutes, max_renotify } = ruleOf(alert);
    const capped = max_renotify > 0 && alert.renotified >= max_renotify;
    return renotify_minutes === 0 || capped ? NEVER : now + renotify_minutes * MINUTE;
  };

  const close = (alert: Told, wall: number) => {
    alert.state = "resolved";
    if (standing.get(alert.key) === alert) standing.delete(alert.key);
    say(alert, "alert.resolved", wall);
  };

  const look = (alert: Told, wall: number) => {
    const now = wall - jumped;
    const rule = ruleOf(alert);
    const ladder = rule.escalations;
    const punctual = (due: number, what: string) => {
      if (Math.max(due, alert.changedAt) < now && due >= upSince)
        late.push(`alert ${alert.id}: ${what} of ${due} looked at in ${now}`);
    };
    const quiet = rule.auto_resolve_quiet_minutes * MINUTE;
    if (quiet > 0 && alert.quietSince + quiet <= now) {
      punctual(alert.quietSince + quiet, "quiet");
      return close(alert, wall);
    }
    if (alert.state !== "open") return;

    if (alert.stepAt <= now) {
      punctual(alert.stepAt, "step");
      let until = alert.turns;
      while (until < ladder.length && moment(alert, until) <= now) until += 1;
      run(alert, { from: alert.turns, until, again: false }, wall);
    } else if (alert.repeatAt <= now) {
      punctual(alert.repeatAt, "repeat");
      run(alert, { ...rungBefore(alert, alert.turns), again: true }, wall);
    }
    if (alert.renotifyAt <= now) {
      punctual(alert.renotifyAt, "renotify");
      alert.renotified += 1;
      alert.renotifyAt = renotifyFrom(alert, now);
      say(alert, "alert.renotified", wall);
    }
  };

  /** An alert follows its rule: what has run and pages the same people stays so; else the furthest passed step, at once. */
  const follow = (alert: Told, before: RuleBody, wall: number) => {
    const now = wall - jumped;
    const rule = ruleOf(alert);
    const ladder = rule.escalations;
    alert.changedAt = now;
    if (before.auto_resolve_quiet_minutes === 0) alert.quietSince = now;
    if (alert.state !== "open") return;
    const next = renotifyFrom(alert, now);
    alert.renotifyAt = next === NEVER ? NEVER : Math.min(alert.renotifyAt, next);
    if (JSON.stringify(before.escalations) === JSON.stringify(ladder)) return;

    const whom = (steps: readonly EscalationStep[], n: number) =>
      JSON.stringify(steps.slice(0, n).map((step) => ({ ...step, repeat_minutes: 0 })));
    let ran = alert.level === 0 ? 0 : Math.min(alert.turns, ladder.length);
    while (whom(before.escalations, ran) !== whom(ladder, ran)) ran -= 1;
    const passed = ladder.findIndex((_, step) => moment(alert, step) > now);
    const until = passed === -1 ? ladder.length : passed;
    const pending = alert.repeatAt;
    alert.turns = ran;
    if (until > ran) {
      alert.turns = Math.max(ran, rungBefore(alert, until).from);
      // A step that was due and had not run is made up for with it.
      if (alert.stepAt <= now) {
        const missed = ladder.findIndex((_, step) => moment(alert, step) >= alert.stepAt);
        alert.turns = Math.min(alert.turns, Math.max(ran, missed === -1 ? until : missed));
      } else alert.stepAt = now;
      alert.repeatAt = NEVER;
      return;
    }
    alert.stepAt = ran < ladder.length ? moment(alert, ran) : NEVER;
    const repeat = repeatSeconds(alert);
    alert.repeatAt = repeat === NEVER ? NEVER : Math.min(pending, now + repeat);
  };

  /** Of two alerts that prove to be one an open one lives, else the first; it owes what either owed. */
  const merge = (a: Told, b: Told, key: string, wall: number) => {
    const [first, second] = a.id < b.id ? [a, b] : [b, a];
    const secondLives = first.state !== "open" && second.state === "open";
    const [kept, ended] = secondLives ? [second, first] : [first, second];
    const bothOpen = ended.state === "open";
    close(ended, wall);
    kept.lastMatchWall = Math.max(kept.lastMatchWall, ended.lastMatchWall);
    kept.quietSince = Math.max(kept.quietSince, ended.quietSince);
    if (ended.level > kept.level)
      Object.assign(kept, { level: ended.level, accounts: ended.accounts });
    standing.delete(kept.key);
    kept.key = key;
    standing.set(key, kept);
    if (!bothOpen) return;
    kept.openedAt = Math.min(kept.openedAt, ended.openedAt);
    const repeats = Math.min(kept.repeatAt, ended.repeatAt);
    kept.stepAt = Math.min(kept.stepAt, ended.stepAt);
    if (kept.turns !== ended.turns) kept.stepAt = Math.min(kept.stepAt, repeats);
    kept.repeatAt = kept.turns === ended.turns ? repeats : NEVER;
    kept.turns = Math.min(kept.turns, ended.turns);
    kept.renotifyAt = Math.min(kept.renotifyAt, ended.renotifyAt);
    kept.renotified = Math.min(kept.renotified, ended.renotified);
  };

  /** With the third word that a rule's lines name they are one template: what stands under the second goes to the first. */
  const name = ({ rule, word, wall }: Extract<Fact, { what: "event" }>) => {
    const known = words[rule] as string[];
    if (known.includes(word)) return;
    known.push(word);
    if (known.length !== MERGED_AT) return;
    for (const alert of [...standing.values()]) {
      const [of, called, host] = alert.key.split(" ");
      if (of !== String(rule) || called !== known[1]) continue;
      const key = `${rule} ${known[0]} ${host}`;
      const other = standing.get(key);
      if (other !== undefined) merge(alert, other, key, wall);
      else {
        standing.delete(alert.key);
        alert.key = key;
        standing.set(key, alert);
      }
    }
  };

  const match = (fact: Extract<Fact, { what: "event" }>) => {
    const { wall } = fact;
    name(fact);
    const known = words[fact.rule] as string[];
    const called = known.length < MERGED_AT ? fact.word : known[0];
    const key = `${fact.rule} ${called} ${fact.host}`;
    const rule = rules[fact.rule] as RuleBody;
    const told = standing.get(key);
    if (told !== undefined) {
      const dedup = rule.dedup_window_minutes * MINUTE;
      if (told.state === "open" && dedup > 0 && wall - told.lastMatchWall > dedup)
        say(told, "alert.renotified", wall);
      told.lastMatchWall = wall;
      told.quietSince = wall - jumped;
      return;
    }
    const now = wall - jumped;
    const alert: Told = {
      ...{ id: alerts.length + 1, rule: fact.rule, key, state: "open", openedAt: now },
      ...{ turns: 0, stepAt: NEVER, repeatAt: NEVER, renotified: 0, renotifyAt: NEVER },
      ...{
        quietSince: now,
        changedAt: now,
        lastMatchWall: wall,
        level: 0,
        accounts: [],
        lastOfKind: new Map(),
      },
    };
    alerts.push(alert);
    standing.set(key, alert);
    alert.renotifyAt = renotifyFrom(alert, now);
    say(alert, "alert.opened", wall);
    const ladder = rule.escalations;
    if (ladder.length > 0) alert.stepAt = moment(alert, 0);
    let until = 0;
    while (until < ladder.length && dueMinute(ladder, until) === 0) until += 1;
    if (until > 0) run(alert, { from: 0, until, again: false }, wall);
  };

  const replace = (fact: Extract<Fact, { what: "ruled" }>) => {
    const before = rules[fact.rule] as RuleBody;
    rules[fact.rule] = fact.body;
    for (const alert of standing.values())
      if (alert.rule === fact.rule) follow(alert, before, fact.wall);
  };

  for (const fact of facts) {
    if (fact.what === "started") {
      upSince = fact.wall - jumped;
      for (const alert of standing.values()) alert.quietSince += fact.down;
    } else if (fact.what === "jumped") jumped += fact.by;
    else if (fact.what === "removed") gone.add(fact.account);
    else if (fact.what === "event") match(fact);
    else if (fact.what === "ruled") replace(fact);
    else if (fact.what === "looked")
      for (const alert of [...standing.values()]) look(alert, fact.wall);
    else {
      const alert = alerts[fact.alert - 1] as Told;
      if (fact.what === "acked" && alert.state === "open") {
        alert.state = "acknowledged";
        say(alert, "alert.acknowledged", fact.wall);
      }
      if (fact.what === "resolved" && alert.state !== "resolved") close(alert, fact.wall);
    }
  }
  return { events, late };
}

/** The minute of a step (counted from 0): in array order none comes before the one ahead of it. */
function dueMinute(ladder: readonly EscalationStep[], step: number): number {
  return Math.max(...ladder.slice(0, step + 1).map(({ after_minutes }) => after_minutes));
}

/** Who a rota has on call, by division. */
export function onCall(rota: Rota, wall: number): string | null {
  if (wall < rota.start) return null;
  const hour = Math.floor((wall % 86_400) / 3600);
  if (rota.hours !== null && (hour < rota.hours.from || hour >= rota.hours.until)) return null;
  const turn = Math.floor((wall - rota.start) / rota.shift);
  return rota.participants[turn % rota.participants.length] ?? null;
}
