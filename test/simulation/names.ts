import {
  acknowledge,
  type Book,
  climbing,
  close,
  MINUTE,
  NEVER,
  ruleOf,
  say,
  type Told,
} from "./book.ts";
import type { Fact, Named } from "./facts.ts";
import { hear, keysOf } from "./labels.ts";
import { goOn, renotifyFrom } from "./ladders.ts";
import { endWaits, startWaits } from "./waiting.ts";
import { dropNamed } from "./windows.ts";

/** How long what a person resolved stays so while its sender goes on with that firing. */
const HELD = 60 * MINUTE;
/** A crash takes reports of the last so many seconds at most. */
const WRITTEN_WITHIN = MINUTE;

/** Takes down that an alert was reported. */
export function report(
  book: Book,
  alert: Told,
  { wall, named }: { wall: number; named: Named | null },
) {
  const now = wall - book.jumped;
  alert.lastMatchWall = wall;
  alert.quietSince = now;
  if (named === null) return;
  const lasts = named.lasts !== null && named.lasts > 0 ? named.lasts : null;
  alert.instance = named.instance;
  alert.promisedUntil = lasts === null ? NEVER : now + lasts;
  alert.reports.push({ wall, now, lasts });
}

/** Whether this is the firing that the alert is already: nobody is told. */
export function isRepeat(alert: Told, named: Named | null): boolean {
  return named !== null && named.instance !== null && named.instance === alert.instance;
}

/** The latest alert of a key, however it is. */
function lastOf({ alerts }: Book, key: string): Told | undefined {
  return alerts.findLast((alert) => alert.key === key);
}

/** Somebody resolved this firing less than an hour ago. Where the clock stands before that, nobody knows. */
export function isHeld(
  book: Book,
  key: string,
  { wall, named }: { wall: number; named: Named | null },
): boolean {
  const last = lastOf(book, key);
  if (named === null || named.instance === null || last?.instance !== named.instance) return false;
  if (last.ended?.by !== "person") return false;
  const since = wall - last.ended.wall;
  return since >= 0 && since < HELD;
}

/** Where the rule says so an alert that ended by itself goes on, its ladder where it stood. */
export function reopens(
  book: Book,
  key: string,
  { wall, named, host }: { wall: number; named: Named | null; host: string },
): boolean {
  const last = lastOf(book, key);
  if (last === undefined || last.ended === null || last.state !== "resolved") return false;
  const { by, now: endedAt } = last.ended;
  const within = ruleOf(book, last).reopen_within_seconds;
  if (within === 0 || wall - last.ended.wall > within) return false;
  if (by === "person" || by === "merged") return false;
  const now = wall - book.jumped;
  last.state = "open";
  last.openedAt += now - endedAt;
  last.changedAt = now;
  last.promisedUntil = NEVER;
  last.instance = null;
  report(book, last, { wall, named });
  hear(last.heard, keysOf({ host, wall }));
  book.standing.set(key, last);
  goesOn(book, last, wall);
  return true;
}

/** An alert is open again: that is told, and its ladder goes on from where it stood. */
export function goesOn(book: Book, alert: Told, wall: number): void {
  alert.turns = Math.min(alert.turns, climbing(book, alert).length);
  alert.renotifyAt = renotifyFrom(book, alert, wall - book.jumped);
  goOn(book, alert, wall);
  say(book, alert, { event: "alert.renotified", wall });
}

/** What a sender says of every alert of a name, of whichever rule. */
export function conclude(book: Book, fact: Extract<Fact, { what: "concluded" }>): void {
  const { wall, key, status, instance } = fact;
  if (status === "resolved") {
    dropNamed(book, key);
    endWaits(book, { key, instance });
  }
  for (const alert of [...book.standing.values()]) {
    if (alert.key.split(" ")[1] !== `@${key}`) continue;
    const isLate =
      instance !== null && alert.instance !== null && Number(instance) < Number(alert.instance);
    if (status === "acknowledged") acknowledge(book, alert, wall);
    else if (!isLate && ruleOf(book, alert).ends_with_source)
      close(book, alert, { by: "source", wall });
  }
}

/** After a start senders have their whole last promise again; a crash may have taken the reports of the last minute. */
export function startAgain(book: Book, fact: Extract<Fact, { what: "started" }>): void {
  const now = fact.wall - book.jumped;
  if (fact.isAgain) startWaits(book, now);
  for (const { alert: id, lasts, seen } of fact.kept) {
    const alert = book.alerts[id - 1] as Told;
    const latest = alert.reports.at(-1);
    const alike = alert.reports.filter((one) => one.lasts === lasts);
    const known = alike.findLast(({ wall }) => wall === seen) ?? alike.at(-1);
    if (known === undefined || latest === undefined || latest.now - known.now > WRITTEN_WITHIN) {
      book.late.push(`alert ${id}: a crash took more than a minute of reports`);
      continue;
    }
    alert.reports.splice(alert.reports.lastIndexOf(known) + 1);
    alert.lastMatchWall = known.wall;
    alert.quietSince = known.now;
    alert.promisedUntil = known.lasts === null ? NEVER : known.now + known.lasts;
  }
  for (const alert of book.standing.values()) {
    alert.quietSince += fact.down;
    const lasts = alert.reports.at(-1)?.lasts ?? NEVER;
    if (alert.promisedUntil !== NEVER)
      alert.promisedUntil = Math.max(alert.promisedUntil, now + lasts);
  }
}
