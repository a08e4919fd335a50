import type { LadderBody } from "../../../src/core/projects/ladder.ts";
import type { RuleBody } from "../../../src/core/projects/rule.ts";
import type { Engine } from "../engine.ts";
import { climbOf, meant, readLadder, renamed } from "../shared.ts";
import { MERGED_AT, type World } from "../world.ts";
import { comesAt, shownAt } from "./calendar.ts";

/** What was asked of the box, and nothing that it says of itself: what must be quiet is worked out from this. */

/** A silence as it was asked for. Times are Unix seconds of the box. */
export interface Asked {
  id: string;
  rule: string | null;
  host: string | null;
  labels: readonly AskedLabel[];
  below: number | null;
  critical: boolean;
  startsAt: number;
  endsAt: number;
  overAt: number;
  repeat: "none" | "daily" | "weekly";
  zone: string;
}

/** A comparison with a label. */
export interface AskedLabel {
  key: string;
  op: "eq" | "neq" | "in" | "not_in" | "matches" | "not_matches";
  value: string | readonly string[];
}

/** An alert, as far as what is quiet depends on it. */
export interface Standing {
  id: number;
  rule: string;
  /** Its rule's row. */
  rule_id: number;
  state: string;
  identifiers: Readonly<Record<string, string>>;
  /** JSON of what its events said, as its row has it. */
  labels: string | null;
  varied: string | null;
  varied_more: string | null;
  level: number;
  drill: number;
  opened_at: number;
}

export interface Ledger {
  readonly silences: Asked[];
  /** Elapsed seconds at which the acknowledgement of an alert ends. */
  readonly wakes: Map<number, number>;
  /** Rules as they are now, by name; those that were written once only. */
  readonly rules: Map<string, RuleBody>;
  readonly unchanged: Set<string>;
  readonly ladders: Map<string, LadderBody>;
  /** What lines of each rule named so far, each word once, in order. */
  readonly words: Map<string, Set<string>>;
  /** What rules were that were removed, by their rows. */
  readonly gone: Map<number, RuleBody>;
  /** Times at which the box was up again, elapsed, with how long it was off by its own measure. */
  readonly downs: { at: number; seconds: number }[];
  jumped: number;
  /** When a clock last jumped, elapsed. */
  jumpedAt: number;
  upSince: number;
  /** Reads what the engine has told since. */
  read(engine: Engine): void;
  elapsed(engine: Engine): number;
}

export function openLedger({ rules, ladders }: Pick<World, "rules" | "ladders">): Ledger {
  let facts = 0;
  const ledger: Ledger = {
    silences: [],
    wakes: new Map(),
    downs: [],
    jumped: 0,
    jumpedAt: 0,
    upSince: 0,
    rules: new Map(rules.map((body, i) => [`rule ${i}`, body])),
    unchanged: new Set(rules.map((_, i) => `rule ${i}`)),
    ladders: new Map(ladders),
    words: new Map(),
    gone: new Map(),
    read(engine) {
      for (const fact of engine.facts.slice(facts)) {
        if (fact.what === "event" || fact.what === "concluded")
          readWord(ledger, { rule: `rule ${fact.rule}`, word: fact.word });
        if (fact.what === "jumped") jump(ledger, { by: fact.by, now: engine.now() });
        if (fact.what === "started") {
          ledger.upSince = fact.wall - ledger.jumped;
          if (fact.down > 0) ledger.downs.push({ at: ledger.upSince, seconds: fact.down });
        }
        readLadder(ledger.ladders, fact);
        if (fact.what === "laddered")
          for (const [name, body] of ledger.rules)
            ledger.rules.set(name, renamed(body, fact.name, fact.to));
        if (fact.what !== "ruled" && fact.what !== "dropped" && fact.what !== "added") continue;
        const name = `rule ${fact.rule}`;
        const before = ledger.rules.get(name);
        const { ladders } = ledger;
        if (fact.what !== "dropped") ledger.rules.set(name, meant(ladders, before, fact.body));
        else if (before !== undefined)
          ledger.gone.set(fact.id, { ...before, escalations: climbOf(ladders, before) });
        ledger.unchanged.delete(name);
      }
      facts = engine.facts.length;
    },
    elapsed: (engine) => engine.now() - ledger.jumped,
  };
  return ledger;
}

export function readWord({ words }: Ledger, line: { rule: string; word: string }): void {
  words.set(line.rule, (words.get(line.rule) ?? new Set()).add(line.word));
}

/** The word that stands for the template of a line: with the third word all lines of a rule are that of the first. */
export function templateWord({ words }: Ledger, line: { rule: string; word: string }): string {
  const [first = line.word, ...more] = words.get(line.rule) ?? [];
  return more.length + 1 < MERGED_AT ? line.word : first;
}

/** What has begun, and comes once, lasts as long as was meant; what is over stays so. */
function jump(ledger: Ledger, { by, now }: { by: number; now: number }): void {
  ledger.jumped += by;
  ledger.jumpedAt = now - ledger.jumped;
  for (const silence of ledger.silences) {
    const isOnce = silence.repeat === "none";
    if (isOnce ? silence.startsAt > now - by : silence.overAt > now - by) continue;
    silence.overAt += by;
    if (!isOnce) continue;
    silence.startsAt += by;
    silence.endsAt += by;
  }
}

const PERIOD = { daily: 86_400, weekly: 7 * 86_400 };

export function holds(silence: Asked, now: number): boolean {
  const { startsAt, endsAt, overAt, repeat, zone } = silence;
  if (now < startsAt || now >= overAt) return false;
  if (repeat === "none") return now < endsAt;
  const [first, last] = [shownAt(zone, startsAt), shownAt(zone, endsAt)];
  const near = Math.floor((now - startsAt) / PERIOD[repeat]);
  for (let n = Math.max(0, near - 2); n <= near + 2; n += 1) {
    const moved = n * PERIOD[repeat];
    const from = comesAt(zone, first + moved, "first");
    if (from <= now && now < comesAt(zone, last + moved, "last")) return true;
  }
  return false;
}

/** Undefined once it was removed. */
export function ruleOf(ledger: Ledger, alert: Pick<Standing, "rule" | "rule_id">) {
  return ledger.gone.has(alert.rule_id) ? undefined : ledger.rules.get(alert.rule);
}

const LONGEST = 30 * 86_400;

/** Why an alert must be quiet now; null: it must not. */
export function whyQuiet(
  ledger: Ledger,
  alert: Standing,
  { all, now }: { all: readonly Standing[]; now: number },
): string | null {
  const silence = ledger.silences.find((one) => takes(one, alert) && holds(one, now));
  if (silence !== undefined) return `silence ${silence.id}`;
  for (const { rule, equal } of ruleOf(ledger, alert)?.silenced_by ?? []) {
    // The newest alone: after a clock that went back an older one may have a later time, and then it rings sooner.
    const above = all.findLast(
      (one) =>
        one.rule === rule &&
        !ledger.gone.has(one.rule_id) &&
        one.state !== "resolved" &&
        one.drill === 0 &&
        equal.every((name) => isSame(surelyOf(one, name), surelyOf(alert, name))),
    );
    if (above !== undefined && above.opened_at + LONGEST > now) return `alert ${above.id}`;
  }
  return null;
}

/** What all of its events said of a label; undefined where they differ, or one is silent of it. */
function surelyOf({ identifiers, labels, varied }: Standing, name: string): string | undefined {
  if (name in identifiers) return identifiers[name];
  return name in JSON.parse(varied ?? "{}") ? undefined : JSON.parse(labels ?? "{}")[name];
}

function isSame(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && a === b;
}

function isLabelled({ key, op, value }: AskedLabel, alert: Standing): boolean {
  const read = (text: string | null) => JSON.parse(text ?? "{}")[key];
  if (JSON.parse(alert.varied_more ?? "[]").includes(key)) return false;
  const [several, one] = [read(alert.varied), read(alert.labels)];
  const values: readonly string[] = several ?? (one === undefined ? [] : [one]);
  const isNot = ["neq", "not_in", "not_matches"].includes(op);
  if (values.length === 0) return isNot;
  const texts = typeof value === "string" ? [value] : value;
  const pattern = new RegExp(`^(?:${texts.join("|")})$`);
  return values.every((text) => pattern.test(text) !== isNot);
}

function takes({ rule, host, labels, below, critical }: Asked, alert: Standing): boolean {
  return (
    (alert.level < 500 || critical) &&
    (below === null || alert.level < below) &&
    (rule === null || rule === alert.rule) &&
    (host === null || host === alert.identifiers["host"]) &&
    labels.every((label) => isLabelled(label, alert))
  );
}
