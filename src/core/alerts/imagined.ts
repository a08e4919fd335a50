import { climbsOf, timersAfter } from "./climbs.ts";
import type {
  Course,
  Question,
  Ringing,
  Rung,
  StandingAlert,
  Surroundings,
} from "./course-shape.ts";
import { type HeldNews, heldTimers, newsOf, released } from "./hold.ts";
import { type Climb, type Due, earliest, type Span, type Timers, whatIsDue } from "./ladder.ts";
import { fallbackPeople, isNobodyReached } from "./nobody-reached.ts";
import { createReach } from "./reach.ts";
import { acknowledgedTimers, wokenTimers } from "./timers.ts";

/** The columns of an alert that its course depends on, and the verbs that change them, on a time that is thought of. */
export class ImaginedAlert {
  readonly course: Course;
  /** When somebody acknowledged it and has it still; null: it is open. */
  takenAt: number | null;
  readonly #around: Surroundings;
  readonly #question: Question;
  #timers: Timers;
  #isHeld: boolean;
  #isUntold: boolean;
  #level: number;
  #paged: readonly string[];
  #pages: readonly Ringing[];
  #ackAt: number | null = null;
  #hasAnswered = false;

  constructor(around: Surroundings, question: Question, from: StandingAlert) {
    this.#around = around;
    this.#question = question;
    this.#timers = from.timers;
    this.takenAt = from.takenAt;
    this.#isHeld = from.isHeld;
    this.#isUntold = from.isUntold;
    this.#level = from.level;
    this.#paged = from.paged;
    this.#pages = from.pages;
    this.course = {
      rungs: [],
      rings: [],
      held: [],
      toldAt: null,
      step: 0,
      timers: from.timers,
      ends: { at: question.at, how: "top" },
    };
  }

  open(): void {
    const { at } = this.#question;
    if (!this.#holds(at, "opened")) this.course.toldAt = at;
  }

  /** When something is due next; null: nothing more. */
  next(): number | null {
    let due = earliest(this.#timers) ?? Number.POSITIVE_INFINITY;
    if (this.#ackAt !== null) due = Math.min(due, this.#ackAt);
    for (const { at } of this.#pages) due = Math.min(due, at);
    return Number.isFinite(due) ? due : null;
  }

  /** All that is due. */
  turn(now: number): void {
    this.#settle(now);
    this.#ring(now);
    this.#answer(now);
  }

  /** As `settleAlert` does it. */
  #settle(now: number): void {
    const at = earliest(this.#timers);
    if (at === null || at > now) return;
    const due = whatIsDue(this.#around.rule, this.#timers, now);
    const news = newsOf(due);
    if (this.takenAt !== null) this.#wake(now);
    else if (!this.#isHeld && news === "nothing") return;
    else if (this.#holds(now, news)) return;
    else if (this.#isHeld) this.#release(now);
    else this.#run(now, due);
  }

  /** Pages that are due ring, unless it is quiet by then. */
  #ring(now: number): void {
    const due = this.#pages.filter(({ at }) => at <= now);
    if (due.length === 0) return;
    if (this.#holds(now, "page")) {
      const owed = this.#around.rule.escalations.length > 0 ? this.#pages : [];
      this.#paged = [...new Set([...this.#paged, ...owed.map(({ account }) => account)])];
      this.#pages = [];
    } else {
      this.#pages = this.#pages.filter(({ at }) => at > now);
      this.course.rings.push(...due);
    }
  }

  /** Somebody takes it, once. */
  #answer(now: number): void {
    const { ack } = this.#question;
    if (this.#ackAt === null || this.#ackAt > now || ack === null) return;
    this.#ackAt = null;
    const snoozed = ack.snooze_seconds ?? this.#around.rule.ack_expires_minutes * 60;
    this.#set(acknowledgedTimers(this.#timers, snoozed === 0 ? null : now + snoozed));
    this.takenAt = now;
    this.#isHeld = false;
    this.#pages = [];
  }

  #run(now: number, due: Due): void {
    const { rule, reachable, seats } = this.#around;
    const timers = this.#timers;
    const reach = createReach(now, seats);
    const climbs = climbsOf(this.#row(), { rule, span: due.steps, reach, reachable });
    const climbed = climbs.at(-1) ?? null;
    this.#set(timersAfter({ rule, timers, due, climbed, now }));
    if (due.steps !== null) for (const climb of climbs) this.#escalate(now, climb, due.steps);
    const ladder = rule.escalations;
    if (climbed !== null && isNobodyReached(this.#row(), ladder, { climbed, reach, reachable })) {
      this.#paged = fallbackPeople(this.#around.fallback, now, seats);
      this.#page(now, { step: climbed.step, why: "fallback", accounts: this.#paged, span: null });
    }
    if (due.renotify !== null) this.#renotify(now);
  }

  #row() {
    const { rule, level } = this.#around;
    return { project_id: rule.project_id, level, escalation_level: this.#level };
  }

  #set(timers: Timers): void {
    this.#timers = timers;
    this.course.timers = timers;
    this.course.step = Math.max(this.course.step, timers.step);
  }

  #holds(now: number, news: HeldNews): boolean {
    const quiet = this.#around.quietAt?.(now) ?? null;
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

  /** As `letGo` does it. */
  #release(now: number): void {
    const { rule } = this.#around;
    const wasUntold = this.#isUntold;
    this.#set(released(this.#timers, { rule, isUntold: wasUntold, now }));
    this.#isHeld = false;
    this.#tell(now);
    if (wasUntold) this.#renotify(now);
    this.#settle(now);
  }

  /** Its acknowledgement has ended. */
  #wake(now: number): void {
    this.#set(wokenTimers(this.#timers, { rule: this.#around.rule, now }));
    this.takenAt = null;
    const wasUntold = this.#isUntold;
    if (!this.#holds(now, "renotify")) {
      this.#tell(now);
      if (!wasUntold) this.#renotify(now);
    }
    this.#settle(now);
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
    this.course.rungs.push({ at: now, ...rung });
    // What rings may be what is held back, too.
    if (this.#question.rings || this.#around.quietAt !== null) this.#rings(now, rung.accounts);
    const { ack, silent } = this.#question;
    if (ack === null || this.#hasAnswered || silent.has(ack.account)) return;
    if (!rung.accounts.includes(ack.account)) return;
    this.#hasAnswered = true;
    this.#ackAt = now + ack.after_seconds;
  }

  /** By each one's phone at once, and by their contacts as their rules have it. */
  #rings(now: number, accounts: readonly string[]): void {
    const { reachable, rule, level } = this.#around;
    if (!reachable.isKnown) return;
    const { project_id } = rule;
    for (const account of accounts)
      if (reachable.hasPhone(account, project_id))
        this.course.rings.push({ at: now, account, contactId: null });
    const due = accounts.flatMap((account) =>
      reachable
        .ways(account, level)
        .map(({ contactId, after }) => ({ at: now + after, account, contactId })),
    );
    this.#pages = [...this.#pages, ...due];
  }
}
