import type { EscalationStep, RuleBody } from "../../src/projects/rule.ts";
import type { Fact, LogEvent } from "./facts.ts";
import type { Rota, World } from "./world.ts";

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
  rule: RuleBody;
  state: "open" | "acknowledged" | "resolved";
  openedAt: number;
  /** How many steps had their turn, and when the last of them (or its repeat) ran. */
  turns: number;
  ranAt: number;
  renotified: number;
  renotifiedAt: number;
  quietSince: number;
  lastMatchWall: number;
  level: number;
  accounts: string[];
  lastOfKind: Map<string, number>;
}

const MINUTE = 60;

export function reference(world: World, facts: readonly Fact[]): Expected {
  const events: LogEvent[] = [];
  const late: string[] = [];
  const alerts: Told[] = [];
  const standing = new Map<string, Told>();
  const gone = new Set<string>();
  let jumped = 0;
  let upSince = 0;

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

  /** Runs steps `from` (counted from 0) to before `until`; on to the next time while nobody is reached. */
  const run = (alert: Told, range: { from: number; until: number }, wall: number) => {
    const ladder = alert.rule.escalations;
    let { from, until } = range;
    alert.ranAt = wall - jumped;
    while (true) {
      const people = ladder.slice(from, until).flatMap((step) => reached(step, wall));
      alert.turns = Math.max(alert.turns, until);
      if (people.length > 0) {
        alert.level = until;
        alert.accounts = [...new Set(people)];
        say(alert, "alert.escalated", wall);
        return;
      }
      if (until === ladder.length) return;
      from = until;
      while (until < ladder.length && dueMinute(ladder, until) === dueMinute(ladder, from))
        until += 1;
    }
  };

  const close = (alert: Told, wall: number) => {
    alert.state = "resolved";
    for (const [key, told] of standing) if (told === alert) standing.delete(key);
    say(alert, "alert.resolved", wall);
  };

  const look = (alert: Told, wall: number) => {
    const now = wall - jumped;
    const { rule } = alert;
    const ladder = rule.escalations;
    const punctual = (moment: number, what: string) => {
      if (moment < now && moment >= upSince)
        late.push(`alert ${alert.id}: ${what} of ${moment} looked at in ${now}`);
    };
    const quiet = rule.auto_resolve_quiet_minutes * MINUTE;
    if (quiet > 0 && alert.quietSince + quiet <= now) {
      punctual(alert.quietSince + quiet, "quiet");
      return close(alert, wall);
    }
    if (alert.state !== "open") return;

    const moment = (step: number) => alert.openedAt + dueMinute(ladder, step) * MINUTE;
    let until = alert.turns;
    while (until < ladder.length && moment(until) <= now) until += 1;
    if (until > alert.turns) {
      punctual(moment(alert.turns), "step");
      run(alert, { from: alert.turns, until }, wall);
    } else if (alert.turns > 0) {
      const together = ladder
        .map((step, i) => ({ step, i }))
        .filter(({ i }) => i < alert.turns && moment(i) === moment(alert.turns - 1));
      const repeats = together.map(({ step }) => step.repeat_minutes).filter((n) => n > 0);
      const again = alert.ranAt + Math.min(...repeats) * MINUTE;
      if (again <= now) {
        punctual(again, "repeat");
        run(alert, { from: together[0]?.i ?? 0, until: alert.turns }, wall);
      }
    }

    const capped = rule.max_renotify > 0 && alert.renotified >= rule.max_renotify;
    const renotify = alert.renotifiedAt + rule.renotify_minutes * MINUTE;
    if (rule.renotify_minutes > 0 && !capped && renotify <= now) {
      punctual(renotify, "renotify");
      alert.renotified += 1;
      alert.renotifiedAt = now;
      say(alert, "alert.renotified", wall);
    }
  };

  const match = (fact: Extract<Fact, { what: "event" }>) => {
    const { wall } = fact;
    const key = `${fact.rule} ${fact.host}`;
    const rule = world.rules[fact.rule] as RuleBody;
    const known = standing.get(key);
    if (known !== undefined) {
      const dedup = rule.dedup_window_minutes * MINUTE;
      if (known.state === "open" && dedup > 0 && wall - known.lastMatchWall > dedup)
        say(known, "alert.renotified", wall);
      known.lastMatchWall = wall;
      known.quietSince = wall - jumped;
      return;
    }
    const now = wall - jumped;
    const alert: Told = {
      id: alerts.length + 1,
      rule,
      state: "open",
      openedAt: now,
      turns: 0,
      ranAt: now,
      renotified: 0,
      renotifiedAt: now,
      quietSince: now,
      lastMatchWall: wall,
      level: 0,
      accounts: [],
      lastOfKind: new Map(),
    };
    alerts.push(alert);
    standing.set(key, alert);
    say(alert, "alert.opened", wall);
    const ladder = rule.escalations;
    let until = 0;
    while (until < ladder.length && dueMinute(ladder, until) === 0) until += 1;
    if (until > 0) run(alert, { from: 0, until }, wall);
  };

  for (const fact of facts) {
    if (fact.what === "started") {
      upSince = fact.wall - jumped;
      for (const alert of standing.values()) alert.quietSince += fact.down;
    } else if (fact.what === "jumped") jumped += fact.by;
    else if (fact.what === "removed") gone.add(fact.account);
    else if (fact.what === "event") match(fact);
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
