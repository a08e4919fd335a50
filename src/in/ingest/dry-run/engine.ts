import { lastThird } from "../../../core/alerts/waiting.ts";
import type { PatternTime } from "../../../core/projects/pattern.ts";
import type { RuleBody } from "../../../core/projects/rule.ts";
import { identifiersOf } from "../alert-key.ts";
import { isNewTo } from "../first-seen.ts";
import { admits, type CompiledRule, compileRule, matches } from "../match.ts";
import { MISSING_LEVEL } from "../missing.ts";
import type { Firing } from "../window.ts";
import type { DryLine, NoveltyOf } from "./dry-line.ts";
import type { DryAlert, DryRunFound } from "./dry-run.ts";
import type { DryHabits } from "./habits.ts";
import type { DryMissing, Missed } from "./missing.ts";
import { DryWindows } from "./windows.ts";

/** Limits of keys and hits in memory; above them the run stops. */
const MOST_KEYS = 100_000;
const MOST_HITS = 1_000_000;
const MOST_ALERTS = 500;
const MOST_TEMPLATES = 50;
/** Finished keys are removed once in so many matches. */
const CLEAN_EVERY = 10_000;
const HOUR = 3600;

/** An open alert; `alert` is null above the number that is listed. */
interface OpenAlert {
  openedAt: number;
  lastSeen: number;
  alert: DryAlert | null;
}

/** What would open, and waits first. */
interface DryWait {
  begunAt: number;
  matchedAt: number;
  line: DryLine;
  fired: Firing;
}

/** The rule of the dry run. Its alerts end after so many seconds if quiet doesn't end them. */
interface DryRule {
  name: string;
  body: RuleBody;
  assumedSeconds: number;
  time: PatternTime;
  noveltyOf: NoveltyOf;
  habitsOf(rule: CompiledRule): DryHabits;
  missingOf(rule: CompiledRule, time: PatternTime): DryMissing;
}

/** The key of the rule's shared alert. */
const SHARED = "*";

/**
 * Applies a rule to lines in order, with the functions of ingest: match, key, window, thresholds, limit of open alerts.
 * The end of an alert is assumed: by the rule's quiet, or after a fixed time.
 */
export class DryEngine {
  matched = 0;
  /** Lines that contain the rule's text, but in a varying part of the template: they don't match. */
  varied = 0;
  alertCount = 0;
  readonly alerts: DryAlert[] = [];
  readonly rule: CompiledRule;
  readonly #time: PatternTime;
  readonly #noveltyOf: NoveltyOf;
  readonly #habits: DryHabits;
  /** Null: its alerts open when something comes. */
  readonly #missing: DryMissing | null;
  readonly #quiet: number;
  readonly #assumed: number;
  readonly #openAlerts = new Map<string, OpenAlert>();
  readonly #windows: DryWindows;
  /** By key, in the order in which they are due. */
  readonly #waiting = new Map<string, DryWait>();
  /** When quiet ended the latest alert of a key, if it can reopen. */
  readonly #ended = new Map<string, { at: number; alert: DryAlert | null }>();
  readonly #buckets = new Map<number, { matched: number; alerts: number }>();
  readonly #templates = new Map<string, DryRunFound["templates"][number]>();

  constructor({ name, body, assumedSeconds, time, noveltyOf, habitsOf, missingOf }: DryRule) {
    this.#time = time;
    this.#noveltyOf = noveltyOf;
    this.rule = compileRule({
      ...body,
      id: 0,
      project_id: 0,
      name,
      created_at: 0,
      updated_at: 0,
    });
    this.#windows = new DryWindows(this.rule);
    this.#habits = habitsOf(this.rule);
    this.#missing = this.rule.isMissing ? missingOf(this.rule, time) : null;
    this.#quiet = body.auto_resolve_quiet_minutes * 60;
    this.#assumed = assumedSeconds;
  }

  /** Adds the next line; false once the memory limit is reached. */
  add(line: DryLine): boolean {
    const { event, text } = line;
    if (this.#missing !== null) {
      if (this.#missing.hear(line)) this.#match(line);
      return this.#templates.size < MOST_KEYS;
    }
    if (this.#waiting.size > 0) this.#settle(line.at);
    this.#habits.hear(line);
    if (!admits(this.rule, line.source, text)) {
      if (this.#says(line)) this.varied += 1;
      return true;
    }
    if (!matches(this.rule, event, this.#time) || !this.#habits.isUnusual(line)) return true;
    if (this.rule.firstSeenSeconds > 0 && !this.#isNews(line) && !this.#goesOn(line)) return true;
    const template = this.#match(line);
    if (this.matched % CLEAN_EVERY === 0) this.#clean(line.at);
    if (this.#apply(line)) template.alerts += 1;
    const keys = this.#windows.size + this.#openAlerts.size + this.#waiting.size;
    return keys < MOST_KEYS && this.#windows.hits < MOST_HITS;
  }

  #isNews(line: DryLine): boolean {
    const novelty = this.#noveltyOf(line);
    return !novelty.isLearning && isNewTo(this.rule, novelty, line.at);
  }

  /** Whether a line of a known template goes on with an alert. */
  #goesOn({ event, at, text }: DryLine): boolean {
    const key = this.rule.keyOf(text.root.id, event.keys);
    if (this.#find(key, at) !== null || this.#waiting.has(key)) return true;
    const ended = this.#ended.get(key);
    return ended !== undefined && ended.at >= at - this.rule.rule.reopen_within_seconds;
  }

  #match(line: DryLine): DryRunFound["templates"][number] {
    this.matched += 1;
    this.#bucket(line.at).matched += 1;
    const template = this.#template(line);
    template.matched += 1;
    template.grew ||= line.grew === true;
    return template;
  }

  /** Opens and ends alerts of what was missing, in the order of time. */
  #miss(all: readonly Missed[]): void {
    const ends = all.flatMap((one) =>
      one.until === null ? [] : [{ ...one, at: one.until, opens: false }],
    );
    const turns = [...all.map((one) => ({ ...one, opens: true })), ...ends];
    for (const { key, at, line, opens } of turns.toSorted((a, b) => a.at - b.at)) {
      const found = this.#find(key, at);
      if (!opens && found !== null) this.#end(key, found, { at, end: "came" });
      if (!opens || found !== null) continue;
      const fired = { count: 1, firstSeen: line.at, level: MISSING_LEVEL, sources: 1 };
      if (this.#open(key, { ...line, at }, fired)) this.#template(line).alerts += 1;
    }
  }

  /** Whether the line's own text would match, instead of its template's. */
  #says({ source, event, text }: DryLine): boolean {
    if (!event.message.includes(this.rule.templateContains)) return false;
    const whole = { ...this.rule, templateContains: "" };
    return admits(whole, source, text) && matches(whole, event, this.#time);
  }

  /** Whether it opens an alert. */
  #apply(line: DryLine): boolean {
    const { event, at, text } = line;
    const key = this.rule.keyOf(text.root.id, event.keys);
    const open = this.#find(key, at);
    if (open !== null) {
      fold(open, { at, level: event.level, count: 1 });
      return false;
    }
    const waits = this.#waiting.get(key);
    if (waits !== undefined) {
      waits.matchedAt = at;
      waits.line = line;
      waits.fired.count += 1;
      waits.fired.level = Math.max(waits.fired.level, event.level);
      return false;
    }
    if (this.#reopens(key, line)) return false;
    const fired = this.rule.atOnce
      ? { count: 1, firstSeen: at, level: event.level, sources: 1 }
      : this.#windows.count(key, line);
    if (fired === null) return false;
    if (this.rule.waitSeconds === 0) return this.#open(key, line, fired);
    this.#waiting.set(key, { begunAt: at, matchedAt: at, line, fired });
    return false;
  }

  /** Those whose time is over open, where matches still came in the last third of it. */
  #settle(at: number): void {
    for (const [key, { begunAt, matchedAt, line, fired }] of this.#waiting) {
      const over = begunAt + this.rule.waitSeconds;
      if (over > at) return;
      this.#waiting.delete(key);
      if (matchedAt < lastThird(begunAt, over)) continue;
      if (this.#open(key, { ...line, at: over }, fired)) this.#template(line).alerts += 1;
    }
  }

  #find(key: string, at: number): OpenAlert | null {
    const found = this.#openAlerts.get(key);
    if (found === undefined) return null;
    const end = this.#endOf(found, at);
    if (end === null) return found;
    this.#end(key, found, end);
    return null;
  }

  /** How the alert had ended by `at`; null while it is open. */
  #endOf(found: OpenAlert, at: number): { at: number; end: "quiet" | "assumed" } | null {
    const quietAt = this.#quiet === 0 ? Infinity : found.lastSeen + this.#quiet;
    const assumedAt = found.openedAt + this.#assumed;
    const first = Math.min(quietAt, assumedAt);
    return first > at ? null : { at: first, end: quietAt <= assumedAt ? "quiet" : "assumed" };
  }

  #end(
    key: string,
    found: OpenAlert,
    { at, end }: { at: number; end: "quiet" | "assumed" | "came" },
  ): void {
    this.#openAlerts.delete(key);
    if (found.alert !== null) Object.assign(found.alert, { ended_at: at, end });
    if (end === "quiet" && this.rule.rule.reopen_within_seconds > 0)
      this.#ended.set(key, { at, alert: found.alert });
  }

  #reopens(key: string, line: DryLine): boolean {
    const last = this.#ended.get(key);
    if (last === undefined) return false;
    this.#ended.delete(key);
    if (last.at < line.at - this.rule.rule.reopen_within_seconds) return false;
    const again = { openedAt: line.at, lastSeen: line.at, alert: last.alert };
    if (last.alert !== null) {
      Object.assign(last.alert, { ended_at: null, end: "open" });
      last.alert.breaks.push({ from: last.at, until: line.at });
    }
    fold(again, { at: line.at, level: line.event.level, count: 1 });
    this.#openAlerts.set(key, again);
    return true;
  }

  #open(key: string, line: DryLine, fired: Firing): boolean {
    const { at, text, event } = line;
    if (this.#isFull(at)) {
      const shared = this.#find(SHARED, at);
      if (shared !== null) {
        fold(shared, { at, ...fired });
        return false;
      }
    }
    const isShared = this.#isFull(at);
    const { rule } = this.rule;
    const of = isShared ? { id: SHARED, text: `${rule.name}: too many to list` } : text.root;
    this.alertCount += 1;
    this.#bucket(at).alerts += 1;
    const alert: DryAlert = {
      opened_at: at,
      ended_at: null,
      end: "open",
      template_id: of.id,
      template: of.text,
      identifiers: isShared ? {} : { ...identifiersOf(rule.identifier_keys, event.keys) },
      count: fired.count,
      level: fired.level,
      line_id: String(line.id),
      breaks: [],
    };
    const told = this.alerts.length < MOST_ALERTS ? alert : null;
    if (told !== null) this.alerts.push(told);
    this.#openAlerts.set(isShared ? SHARED : key, { openedAt: at, lastSeen: at, alert: told });
    return true;
  }

  /** Whether the rule has as many open alerts as allowed, without the shared one. */
  #isFull(at: number): boolean {
    const { max_open } = this.rule.rule;
    const others = () => this.#openAlerts.size - (this.#openAlerts.has(SHARED) ? 1 : 0);
    if (max_open === 0 || others() < max_open) return false;
    for (const key of [...this.#openAlerts.keys()]) this.#find(key, at);
    return others() >= max_open;
  }

  #bucket(at: number) {
    const hour = at - (at % HOUR);
    return this.#buckets.getOrInsertComputed(hour, () => ({ matched: 0, alerts: 0 }));
  }

  #template({ text: { root }, event }: DryLine): DryRunFound["templates"][number] {
    let known = this.#templates.get(root.id);
    if (known === undefined) {
      const example = event.message.slice(0, 1024);
      known = {
        template_id: root.id,
        template: root.text,
        grew: false,
        matched: 0,
        alerts: 0,
        example,
      };
      this.#templates.set(root.id, known);
    }
    return known;
  }

  /** Removes ended alerts and empty windows. */
  #clean(at: number): void {
    for (const key of [...this.#openAlerts.keys()]) this.#find(key, at);
    this.#windows.clean(at);
    for (const [key, ended] of this.#ended)
      if (ended.at < at - this.rule.rule.reopen_within_seconds) this.#ended.delete(key);
  }

  /** The result at `until`. */
  finish(until: number): Pick<DryRunFound, "alerts" | "buckets" | "templates" | "near"> {
    this.#settle(until);
    if (this.#missing !== null) this.#miss(this.#missing.finish(until));
    this.#clean(until);
    const byMatches = [...this.#templates.values()].toSorted((a, b) => b.matched - a.matched);
    return {
      alerts: this.alerts,
      buckets: [...this.#buckets].map(([at, counts]) => ({ at, ...counts })),
      templates: byMatches.slice(0, MOST_TEMPLATES),
      near: this.#windows.nearest(),
    };
  }
}

function fold(open: OpenAlert, matched: { at: number; level: number; count: number }): void {
  open.lastSeen = matched.at;
  const { alert } = open;
  if (alert === null) return;
  alert.count += matched.count;
  alert.level = Math.max(alert.level, matched.level);
}
