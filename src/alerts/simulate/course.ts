import type { Work } from "../../kit/slices.ts";
import { acknowledgedTimers } from "../acknowledge.ts";
import { fallbackPeople, isNobodyReached } from "../fallback.ts";
import { type HeldNews, heldTimers, released } from "../hold.ts";
import { type Climb, type Due, earliest, type Span, type Timers, whatIsDue } from "../ladder.ts";
import { createReach } from "../reach.ts";
import { climbsOf, timersAfter } from "../settle.ts";
import { wokenTimers } from "../snooze.ts";
import { timersAtOpening } from "../timers.ts";
import type { SimulateInput, Simulation } from "./shape.ts";
import type { World } from "./world.ts";

/**
 * What becomes of an alert that opens at a time and whose trouble lasts: the verbs' own decisions, one after the other, on a
 * time that is thought of. Messages are taken to be taken.
 */

export interface Question {
  at: number;
  /** It is followed up to here. */
  until: number;
  silent: ReadonlySet<string>;
  ack: SimulateInput["ack"];
}

export interface Rung {
  at: number;
  step: number;
  why: Simulation["rungs"][number]["why"];
  accounts: readonly string[];
  /** The steps that page them; null: none of the ladder's. */
  span: { first: number; last: number } | null;
}

/** A person's phone, or a contact of theirs. */
export interface Ringing {
  at: number;
  account: string;
  /** null: a phone by the relay. */
  contactId: string | null;
}

export interface Course {
  rungs: Rung[];
  rings: Ringing[];
  held: Simulation["held"];
  /** When channels hear that it opened; null: they never do. */
  toldAt: number | null;
  /** Steps that have had their turn. */
  step: number;
  timers: Timers;
  ends: Simulation["ends"];
}

/** Rungs that one answer holds. */
const MOST_RUNGS = 500;
/** What one turn costs beside a look at one layer of a schedule. */
const COST = 20;

/** `isEnough`: whether all that is asked for is known by now. */
export function* followAlert(
  world: World,
  question: Question,
  isEnough: (course: Course, now: number) => boolean = () => false,
): Work<Course> {
  const alert = new ImaginedAlert(world, question);
  const { course } = alert;
  alert.open();
  for (let now: number | null = question.at; ; ) {
    if (now === null) {
      const last = course.rungs.at(-1)?.at ?? question.at;
      course.ends = alert.takenAt === null ? { at: last, how: "top" } : alert.taken;
      return course;
    }
    if (now > question.until || course.rungs.length >= MOST_RUNGS || isEnough(course, now)) {
      course.ends = { at: Math.min(now, question.until), how: "horizon" };
      course.rungs.length = Math.min(course.rungs.length, MOST_RUNGS);
      return course;
    }
    yield COST;
    alert.settle(now);
    alert.ring(now);
    alert.answer(now);
    now = alert.next();
  }
}

/** The columns of an alert that its course depends on, and the verbs that change them. */
class ImaginedAlert {
  readonly course: Course;
  /** When somebody acknowledged it and has it still; null: it is open. */
  takenAt: number | null = null;
  readonly #world: World;
  readonly #question: Question;
  #timers: Timers;
  #isHeld = false;
  #isUntold = false;
  #level = 0;
  #paged: readonly string[] = [];
  #pages: Ringing[] = [];
  #ackAt: number | null = null;
  #hasAnswered = false;

  constructor(world: World, question: Question) {
    this.#world = world;
    this.#question = question;
    // Its trouble lasts: quiet doesn't end it.
    this.#timers = { ...timersAtOpening(world.rule, question.at), quietAt: null };
    this.course = {
      ...{ rungs: [], rings: [], held: [], toldAt: null, step: 0, timers: this.#timers },
      ends: { at: question.at, how: "top" },
    };
  }

  get taken(): Simulation["ends"] {
    return { at: this.takenAt ?? this.#question.at, how: "ack" };
  }

  open(): void {
    const { at } = this.#question;
    if (!this.#holds(at, "opened")) this.course.toldAt = at;
  }

  /** When something is due next; null: nothing more. */
  next(): number | null {
    const times = [earliest(this.#timers), this.#ackAt, ...this.#pages.map(({ at }) => at)];
    const due = times.filter((at) => at !== null);
    return due.length === 0 ? null : Math.min(...due);
  }

  /** As `settleAlert` does it. */
  settle(now: number): void {
    const at = earliest(this.#timers);
    if (at === null || at > now) return;
    const due = whatIsDue(this.#world.rule, this.#timers, now);
    const hasNews = due.steps !== null || due.renotify !== null;
    if (this.takenAt !== null) this.#wake(now);
    else if (!this.#isHeld && !hasNews) return;
    else if (this.#holds(now, due.steps !== null ? "step" : "renotify")) return;
    else if (this.#isHeld) this.#release(now);
    else this.#run(now, due);
  }

  /** Pages that are due ring, unless it is quiet by then. */
  ring(now: number): void {
    const due = this.#pages.filter(({ at }) => at <= now);
    if (due.length === 0) return;
    if (this.#holds(now, "page")) this.#pages = [];
    else {
      this.#pages = this.#pages.filter(({ at }) => at > now);
      this.course.rings.push(...due);
    }
  }

  /** Somebody takes it, once. */
  answer(now: number): void {
    const { ack } = this.#question;
    if (this.#ackAt === null || this.#ackAt > now || ack === null) return;
    this.#ackAt = null;
    const snoozed = ack.snooze_seconds ?? this.#world.rule.ack_expires_minutes * 60;
    this.#set(acknowledgedTimers(this.#timers, snoozed === 0 ? null : now + snoozed));
    this.takenAt = now;
    this.#isHeld = false;
    this.#pages = [];
  }

  #run(now: number, due: Due): void {
    const { rule, reachable } = this.#world;
    const timers = this.#timers;
    const reach = createReach(now, this.#world.seats);
    const climbs = climbsOf(this.#row(), { rule, span: due.steps, reach, reachable });
    const climbed = climbs.at(-1) ?? null;
    this.#set(timersAfter({ rule, timers, due, climbed, now }));
    if (due.steps !== null) for (const climb of climbs) this.#escalate(now, climb, due.steps);
    const ladder = rule.escalations;
    if (climbed !== null && isNobodyReached(this.#row(), ladder, { climbed, reach, reachable })) {
      this.#paged = fallbackPeople(this.#world.fallback, now, this.#world.seats);
      this.#page(now, { step: climbed.step, why: "fallback", accounts: this.#paged, span: null });
    }
    if (due.renotify !== null) this.#renotify(now);
  }

  #row() {
    const { rule, level } = this.#world;
    return { project_id: rule.project_id, level, escalation_level: this.#level };
  }

  #set(timers: Timers): void {
    this.#timers = timers;
    this.course.timers = timers;
    this.course.step = Math.max(this.course.step, timers.step);
  }

  #holds(now: number, news: HeldNews): boolean {
    const quiet = this.#world.quietAt(now);
    if (quiet === null) return false;
    const { by, until, reason } = quiet;
    this.#set(heldTimers(this.#timers, { until, news, isUntold: this.#isUntold, now }));
    const last = this.course.held.at(-1);
    if (!this.#isHeld || last?.by !== by || last.until !== until)
      this.course.held.push({ at: now, until, by, reason });
    this.#isHeld = true;
    if (news === "opened") this.#isUntold = true;
    return true;
  }

  #release(now: number): void {
    const { rule } = this.#world;
    this.#set(released(this.#timers, { rule, isUntold: this.#isUntold, now }));
    this.#isHeld = false;
    this.#tell(now);
    this.settle(now);
  }

  /** Its acknowledgement has ended. */
  #wake(now: number): void {
    this.#set({ ...wokenTimers(this.#timers, { rule: this.#world.rule, now }), quietAt: null });
    this.takenAt = null;
    const wasUntold = this.#isUntold;
    if (!this.#holds(now, "renotify")) {
      this.#tell(now);
      if (!wasUntold) this.#renotify(now);
    }
    this.settle(now);
  }

  #tell(now: number): void {
    if (this.#isUntold) this.course.toldAt = now;
    this.#isUntold = false;
  }

  #escalate(now: number, { paged, nobody }: Climb, span: Span): void {
    const usual = span.repeat ? "repeat" : "step";
    for (const step of nobody)
      this.#page(now, { step, why: usual, accounts: [], span: { first: step, last: step } });
    if (paged === null) return;
    this.#level = paged.span.last;
    this.#paged = paged.accounts;
    const why = paged.span.first !== span.first ? "nobody_reached_before" : usual;
    this.#page(now, { step: this.#level, why, accounts: this.#paged, span: paged.span });
  }

  #renotify(now: number): void {
    if (this.#paged.length === 0) return;
    this.#page(now, { step: this.#level, why: "renotify", accounts: this.#paged, span: null });
  }

  #page(now: number, rung: Omit<Rung, "at">): void {
    const { ack, silent } = this.#question;
    const { reachable, rule, level } = this.#world;
    this.course.rungs.push({ at: now, ...rung });
    for (const account of rung.accounts) {
      if (reachable.isKnown && reachable.hasPhone(account, rule.project_id))
        this.course.rings.push({ at: now, account, contactId: null });
      if (reachable.isKnown)
        for (const { contactId, after } of reachable.ways(account, level))
          this.#pages.push({ at: now + after, account, contactId });
      if (ack?.account === account && !silent.has(account) && !this.#hasAnswered) {
        this.#hasAnswered = true;
        this.#ackAt = now + ack.after_seconds;
      }
    }
  }
}
