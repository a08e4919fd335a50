import type { SilencedBy } from "../quiet/decide.ts";
import type {
  OpenAlertRow,
  Ringing,
  Rung,
  SimulationContext,
  SimulationQuery,
  SimulationResult,
} from "./course-shape.ts";
import { numberInPass } from "./ladder.ts";
import { type Happening, step } from "./life/step.ts";
import type { AlertEffect, AlertMoment, Life } from "./life/turn.ts";
import { isAnew, whyFallback } from "./life/undelivered.ts";
import { fallbackPeople } from "./nobody-reached.ts";
import { createReach } from "./reach.ts";
import { timersOf } from "./timers.ts";

type Effect<What extends AlertEffect["what"]> = Extract<AlertEffect, { what: What }>;

/** An alert on a time that is thought of: it takes the steps of a live one, and what would be told is only written down. */
export class SimulatedAlert {
  readonly course: SimulationResult;
  readonly #around: SimulationContext;
  readonly #question: SimulationQuery;
  #alert: Life;
  #isHeld: boolean;
  #fallbackSince: OpenAlertRow["fallbackSince"];
  /** Of the pages that it had made; those that are thought of are taken. */
  #undelivered: OpenAlertRow["undelivered"];
  #pages: readonly Ringing[];
  #ackAt: number | null = null;
  #hasAnswered = false;
  /** Times at which it ends by itself and comes back, by turns. */
  #breaks: readonly number[];

  constructor(
    around: SimulationContext,
    question: SimulationQuery,
    { alert, pages, fallbackSince, undelivered }: OpenAlertRow,
  ) {
    this.#around = around;
    this.#question = question;
    this.#alert = alert;
    this.#isHeld = alert.silenced_by !== null;
    this.#pages = pages;
    this.#fallbackSince = fallbackSince;
    this.#undelivered = undelivered;
    this.#breaks = (question.breaks ?? []).flatMap(({ from, until }) => [from, until]);
    this.course = {
      rungs: [],
      rings: [],
      held: [],
      toldAt: null,
      step: 0,
      timers: timersOf(alert),
      ends: { at: question.at, how: "top" },
    };
  }

  /** When somebody acknowledged it and has it still; null: it is open. */
  get takenAt(): number | null {
    const { state, acked_at } = this.#alert;
    return state === "acknowledged" ? (acked_at ?? 0) : null;
  }

  open(): void {
    this.#happens(this.#question.at, { what: "opened" });
  }

  /** When something is due next; null: nothing more. */
  next(): number | null {
    const [next = null] = this.#breaks;
    const times = [this.#alert.due_at, this.#ackAt, next, ...this.#pages.map(({ at }) => at)];
    const due = times.filter((at) => at !== null);
    return due.length === 0 ? null : Math.min(...due);
  }

  /** All that is due. */
  turn(now: number): void {
    this.#endOrReturn(now);
    const { due_at } = this.#alert;
    if (due_at !== null && due_at <= now) this.#happens(now, { what: "looked" });
    this.#ring(now);
    this.#answer(now);
  }

  #endOrReturn(now: number): void {
    const [at, ...later] = this.#breaks;
    if (at === undefined || at > now) return;
    this.#breaks = later;
    const { state, level } = this.#alert;
    if (state !== "resolved") this.#happens(now, { what: "resolved", by: { reason: "quiet" } });
    else this.#happens(now, { what: "reopened", counted: { level, expires_at: null } });
  }

  /** Pages that are due ring, unless it is quiet by then. */
  #ring(now: number): void {
    const due = this.#pages.filter(({ at }) => at <= now);
    if (due.length === 0) return;
    if (this.#momentAt(now).quiet() === null) {
      this.#pages = this.#pages.filter(({ at }) => at > now);
      this.course.rings.push(...due);
      return;
    }
    const owed = this.#around.rule.escalations.length > 0 ? this.#pages : [];
    this.#pages = [];
    this.#happens(now, { what: "pages_held", waiting: owed.map(({ account }) => account) });
  }

  /** Somebody takes it, once. */
  #answer(now: number): void {
    const { ack } = this.#question;
    if (this.#ackAt === null || this.#ackAt > now || ack === null) return;
    this.#ackAt = null;
    const { account: by, snooze_seconds: seconds } = ack;
    const until = seconds === undefined ? undefined : seconds === 0 ? null : now + seconds;
    this.#happens(now, { what: "acknowledged", by, until });
    this.#pages = [];
  }

  #happens(now: number, of: Happening): void {
    const { alert, effects } = step(this.#alert, of, this.#momentAt(now));
    this.#alert = alert;
    for (const effect of effects) this.#note(now, effect);
    this.course.timers = timersOf(alert);
    this.course.step = Math.max(this.course.step, alert.step);
  }

  #momentAt(now: number): AlertMoment {
    const { rule, reachable, seats, quietAt } = this.#around;
    return {
      at: now,
      rule,
      quiet: () => quietAt?.(now) ?? null,
      reach: createReach(now, seats),
      reachable,
      fallback: (isReached) => fallbackPeople(this.#around.fallback, { at: now, isReached }, seats),
      fallbackSince: () => this.#fallbackSince(),
      undelivered: () => this.#undelivered(),
      looksOn: false,
      nextSeq: () => 0,
      upSince: 0,
      later: null,
    };
  }

  #note(now: number, effect: AlertEffect): void {
    const { what } = effect;
    this.#remember(effect);
    if (what === "opened") this.course.toldAt = now;
    else if (what === "held") this.#hold(now, effect.quiet);
    else if (what === "released" || what === "acknowledged") this.#isHeld = false;
    else if (what === "escalated") this.#escalate(now, effect);
    else if (what === "fallback") this.#pageLast(now, what, effect.alert);
    else if (what === "renotified" && effect.alert.page_accounts !== "[]")
      this.#pageLast(now, "renotify", effect.alert);
  }

  #remember(effect: AlertEffect): void {
    const why = whyFallback(effect);
    if (why !== null) this.#fallbackSince = () => why;
    else if (isAnew(effect)) {
      this.#fallbackSince = () => null;
      this.#undelivered = () => null;
    }
  }

  #hold(now: number, { by, until, reason }: SilencedBy): void {
    const last = this.course.held.at(-1);
    if (!this.#isHeld || last?.by !== by || last.until !== until)
      this.course.held.push({ at: now, until, by, reason });
    this.#isHeld = true;
  }

  #escalate(now: number, { span, climb: { paged, nobody } }: Effect<"escalated">): void {
    const usual = span.repeat ? "repeat" : "step";
    const numberOf = (step: number) => numberInPass(this.#around.rule, step);
    for (const one of nobody) {
      const span = { first: one, last: one };
      this.#page(now, { step: numberOf(one), why: usual, accounts: [], span });
    }
    if (paged === null) return;
    const why = paged.span.first !== span.first ? "nobody_reached_before" : usual;
    const { accounts } = paged;
    this.#page(now, { step: numberOf(paged.span.last), why, accounts, span: paged.span });
  }

  /** Those whom the alert pages now, by no step. */
  #pageLast(now: number, why: "fallback" | "renotify", alert: Life): void {
    const accounts = JSON.parse(alert.page_accounts) as string[];
    const { escalation_level: level } = alert;
    const step = why === "fallback" ? numberInPass(this.#around.rule, alert.step) : level;
    this.#page(now, { step, why, accounts, span: null });
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
