import { isDeepStrictEqual } from "node:util";
import type { RuleBody } from "../../src/core/projects/rule.ts";
import { defaultRule } from "../support/plane.ts";
import {
  acknowledge,
  type Book,
  climbing,
  close,
  isOrphan,
  MINUTE,
  NEVER,
  openBook,
  ruleOf,
  say,
  type Told,
} from "./book.ts";
import type { Fact, LogEvent } from "./facts.ts";
import { hear, keysOf } from "./labels.ts";
import {
  type Before,
  dueMinute,
  follow,
  forget,
  moment,
  pageFallback,
  renotifyFrom,
  run,
  rungBefore,
} from "./ladders.ts";
import { conclude, goesOn, isHeld, isRepeat, reopens, report, startAgain } from "./names.ts";
import { type ClimbStep, climbOf, meant, readLadder, renamed } from "./shared.ts";
import { readLine, templateOf } from "./templates.ts";
import {
  beginWait,
  dropWaits,
  hearWait,
  lasted,
  mustLast,
  retimeWaits,
  takeDue,
  type Wait,
} from "./waiting.ts";
import { dropHits, fires } from "./windows.ts";
import type { World } from "./world.ts";

/**
 * What the box must have said, worked out from the contract's text and the facts alone. It knows
 * nothing of columns: of each alert it keeps what happened, and asks at every look which rules apply. Time is
 * counted in seconds that the clock's jumps don't touch ("elapsed"), made from wall time where an event needs it.
 */
export interface Expected {
  events: LogEvent[];
  /** Sentences about what was done too late: a look that came after its time with the box up. */
  late: string[];
  /** Firings that were reported again, or held back, and told nobody anything. */
  repeats: number;
  /** Alerts that followed another ladder, by a change of the ladder. */
  followed: number;
  /** How each alert ended last; null where it didn't. */
  endings: (Told["ended"] | null)[];
  alerts: readonly Told[];
  /** What alerts of each rule's row climb at the end. */
  climbs: ReadonlyMap<number, readonly ClimbStep[]>;
}

export function reference(world: World, facts: readonly Fact[]): Expected {
  const book = openBook(world);
  for (const fact of facts) read(book, fact);
  const { events, late, alerts, repeats, followed } = book;
  return {
    events,
    late,
    repeats,
    followed,
    alerts,
    climbs: new Map(book.rules.map((rule, row) => [row + 1, climbOf(book.ladders, rule)])),
    endings: alerts.map(({ state, ended }) => (state === "resolved" ? ended : null)),
  };
}

function read(book: Book, fact: Fact): void {
  const { standing } = book;
  if (fact.what === "started") {
    book.upSince = fact.wall - book.jumped;
    startAgain(book, fact);
  } else if (fact.what === "jumped") book.jumped += fact.by;
  else if (fact.what === "removed") book.gone.add(fact.account);
  else if (fact.what === "event") match(book, fact);
  else if (fact.what === "ruled") replace(book, fact);
  else if (fact.what === "laddered") reladder(book, fact);
  else if (fact.what === "unladdered") unladder(book, fact);
  else if (fact.what === "dropped") drop(book, fact);
  else if (fact.what === "added") {
    book.rows[fact.rule] = fact.id - 1;
    book.rules[fact.id - 1] = fact.body;
  } else if (fact.what === "looked") {
    for (const wait of takeDue(book, fact.wall - book.jumped)) openLasting(book, wait, fact.wall);
    for (const alert of [...standing.values()]) look(book, alert, fact.wall);
  } else if (fact.what === "concluded") {
    readLine(book, fact);
    conclude(book, fact);
  } else {
    const alert = book.alerts[fact.alert - 1];
    // One that must not be there: that shows in what was said of it.
    if (alert === undefined) return;
    if (fact.what === "acked") acknowledge(book, alert, fact.wall);
    else if (fact.what === "unacked") takeBack(book, alert, fact.wall);
    else if (alert.state !== "resolved") close(book, alert, { by: "person", wall: fact.wall });
  }
}

function look(book: Book, alert: Told, wall: number): void {
  // Nothing is timed of it any more, and nobody else ends it.
  if (isOrphan(book, alert)) {
    if (alert.isOwed && alert.state === "open") pageFallback(book, alert, wall);
    alert.isOwed = false;
    return;
  }
  const now = wall - book.jumped;
  const rule = ruleOf(book, alert);
  const ladder = climbing(book, alert);
  const isDue = (due: number, what: string) => {
    if (due > now) return false;
    if (Math.max(due, alert.changedAt) < now && due >= book.upSince)
      book.late.push(`alert ${alert.id}: ${what} of ${due} looked at in ${now}`);
    return true;
  };
  const quiet = rule.auto_resolve_quiet_minutes * MINUTE;
  if (quiet > 0 && isDue(alert.quietSince + quiet, "quiet"))
    close(book, alert, { by: "quiet", wall });
  else if (isDue(alert.promisedUntil, "promise")) close(book, alert, { by: "stale", wall });
  if (alert.state !== "open") return;

  if (isDue(alert.stepAt, "step")) {
    let until = alert.turns;
    while (until < ladder.length && moment(book, alert, until) <= now) until += 1;
    run(book, alert, { from: alert.turns, until, again: false, wall });
  } else if (isDue(alert.repeatAt, "repeat"))
    run(book, alert, { ...rungBefore(book, alert, alert.turns), again: true, wall });
  if (isDue(alert.renotifyAt, "renotify")) {
    alert.renotified += 1;
    alert.renotifyAt = renotifyFrom(book, alert, now);
    say(book, alert, { event: "alert.renotified", wall });
  }
}

function match(book: Book, fact: Extract<Fact, { what: "event" }>): void {
  readLine(book, fact);
  count(book, fact);
}

function count(book: Book, fact: Extract<Fact, { what: "event" }>): void {
  const { wall, named } = fact;
  const row = book.rows[fact.rule];
  if (row == null) return;
  const subject = named === null ? templateOf(book, fact) : `@${named.key}`;
  const key = `${row} ${subject} ${fact.host}`;
  const told = book.standing.get(key);
  if (told === undefined) {
    const wait = mustLast(book, row) ? book.waits.all.get(key) : undefined;
    if (wait !== undefined && wait.due <= wall - book.jumped) {
      book.waits.all.delete(key);
      openLasting(book, wait, wall);
      count(book, fact);
    } else if (wait !== undefined) {
      if (hearWait(book, wait, { fact, keys: keysOf(fact) })) book.repeats += 1;
    } else if (isHeld(book, key, fact)) book.repeats += 1;
    else if (!reopens(book, key, fact)) {
      const keys = keysOf(fact);
      const counted = fires(book, key, { rule: row, now: wall - book.jumped, keys });
      if (counted !== null && mustLast(book, row))
        beginWait(book, key, { fact, rule: row, keys: counted });
      else if (counted !== null) open(book, key, { ...fact, rule: row, counted });
    }
    return;
  }
  const dedup = ruleOf(book, told).dedup_window_minutes * MINUTE;
  const isBurst = told.state === "open" && dedup > 0 && wall - told.lastMatchWall > dedup;
  if (isRepeat(told, named)) book.repeats += 1;
  else if (isBurst) say(book, told, { event: "alert.renotified", wall });
  report(book, told, fact);
  hear(told.heard, keysOf(fact));
}

/** Its time is over: it opens, unless it ended by itself. */
function openLasting(book: Book, wait: Wait, wall: number): void {
  const { key, rule, named, host, word, heard, last } = wait;
  if (!lasted(wait) || book.standing.has(key)) return;
  open(book, key, { what: "event", wall, rule, host, word, named, counted: heard });
  const alert = book.standing.get(key);
  if (alert !== undefined) alert.lastMatchWall = last + book.jumped;
}

/** `counted`: the keys of all events that it opens with. */
type Opened = Extract<Fact, { what: "event" }> & { counted: readonly Record<string, string>[] };

function open(book: Book, key: string, fact: Opened): void {
  const { wall } = fact;
  const now = wall - book.jumped;
  const alert: Told = {
    id: book.alerts.length + 1,
    rule: fact.rule,
    key,
    state: "open",
    openedAt: now,
    turns: 0,
    stepAt: NEVER,
    repeatAt: NEVER,
    renotified: 0,
    renotifyAt: NEVER,
    quietSince: now,
    changedAt: now,
    lastMatchWall: wall,
    level: 0,
    accounts: [],
    ackedAt: now,
    isOwed: false,
    instance: null,
    promisedUntil: NEVER,
    reports: [],
    heard: new Map(),
    hasMerged: false,
    ended: null,
    lastOfKind: new Map(),
  };
  report(book, alert, fact);
  for (const keys of fact.counted) hear(alert.heard, keys);
  book.alerts.push(alert);
  book.standing.set(key, alert);
  alert.renotifyAt = renotifyFrom(book, alert, now);
  say(book, alert, { event: "alert.opened", wall });
  const ladder = climbing(book, alert);
  if (ladder.length > 0) alert.stepAt = moment(book, alert, 0);
  let until = 0;
  while (until < ladder.length && dueMinute(ladder, until) === 0) until += 1;
  if (until > 0) run(book, alert, { from: 0, until, again: false, wall });
}

const DAY = 86_400;
const endedAt = ({ ended }: Told): number => ended?.wall ?? 0;

/** The ladder goes on after the wait that it had left. */
function takeBack(book: Book, alert: Told, wall: number): void {
  if (alert.state !== "acknowledged") return;
  const now = wall - book.jumped;
  alert.state = "open";
  alert.openedAt += now - alert.ackedAt;
  alert.changedAt = now;
  goesOn(book, alert, wall);
  alert.isOwed = isOrphan(book, alert) && alert.accounts.length === 0;
}

function replace(
  book: Book,
  fact: Pick<Extract<Fact, { what: "ruled" }>, "rule" | "wall" | "body">,
): void {
  const row = book.rows[fact.rule] as number;
  const before = book.rules[row] as RuleBody;
  const body = meant(book.ladders, before, fact.body);
  const climb = climbOf(book.ladders, before);
  book.rules[row] = body;
  if (!isDeepStrictEqual(before, body)) dropHits(book, row);
  retimeWaits(book, row, { before, now: fact.wall - book.jumped });
  changed(book, row, { before: { climb, quiet: before.auto_resolve_quiet_minutes }, fact });
}

/** The alerts of a rule that was changed follow it. */
function changed(
  book: Book,
  row: number,
  { before, fact: { wall } }: { before: Before; fact: { wall: number } },
): void {
  for (const alert of book.standing.values())
    if (alert.rule === row) follow(book, alert, { before, wall });
  // They may be opened again within a day.
  for (const alert of book.alerts)
    if (alert.rule === row && alert.state === "resolved" && endedAt(alert) > wall - DAY)
      forget(book, alert, before);
}

/** A change of a ladder is one of each of its rules. */
function reladder(book: Book, fact: Extract<Fact, { what: "laddered" }>): void {
  const before = new Map(book.ladders);
  readLadder(book.ladders, fact);
  for (const row of book.rows) {
    if (row === null) continue;
    const rule = book.rules[row] as RuleBody;
    if (rule.ladder !== fact.name || !before.has(fact.name)) continue;
    book.rules[row] = renamed(rule, fact.name, fact.to);
    const { auto_resolve_quiet_minutes: quiet } = rule;
    const climb = climbOf(before, rule);
    changed(book, row, { before: { climb, quiet: Math.max(1, quiet) }, fact });
    for (const alert of book.standing.values()) if (alert.rule === row) book.followed += 1;
  }
}

function unladder(book: Book, fact: Extract<Fact, { what: "unladdered" }>): void {
  const isUsed = book.rows.some((row) => row !== null && book.rules[row]?.ladder === fact.name);
  if (isUsed !== fact.refused)
    book.late.push(`ladder ${fact.name} was ${fact.refused ? "kept" : "deleted"}`);
  readLadder(book.ladders, fact);
}

/** Its ladders end, which was said, and so does all else that it timed. */
function drop(book: Book, fact: Extract<Fact, { what: "dropped" }>): void {
  const { rule, wall } = fact;
  const row = fact.id - 1;
  const own = [...book.standing.values()].filter((alert) => alert.rule === row);
  const ends = own
    .filter(({ state, stepAt, repeatAt }) => state === "open" && Math.min(stepAt, repeatAt) < NEVER)
    .map(({ id }) => id);
  if (!isDeepStrictEqual(fact.ends.toSorted(), ends.toSorted()))
    book.late.push(
      `rule ${row} went: the ladders of ${fact.ends} end as was said, must of ${ends}`,
    );
  const { match } = book.rules[row] as RuleBody;
  dropWaits(book, row);
  replace(book, { rule, wall, body: { ...defaultRule, match, ladder: null } });
  book.rows[rule] = null;
}
