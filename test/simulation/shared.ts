import { isDeepStrictEqual } from "node:util";
import { changeLadder, deleteLadder } from "../../src/core/alerts/ladders.ts";
import type { LadderBody } from "../../src/core/projects/ladder.ts";
import { insertLadder } from "../../src/core/projects/ladders.ts";
import type { EscalationStep, RuleBody } from "../../src/core/projects/rule.ts";
import { ServiceError } from "../../src/ground/kit/errors.ts";
import type { Store } from "../../src/ground/store/store.ts";
import type { Fact } from "./facts.ts";

/** Ladders of the tenant, which rules refer to: what is known of them by name, and what acts do with them. */

/** A step of a whole ladder, through all its passes. */
export interface ClimbStep extends EscalationStep {
  /** Its number in each pass, from 1. */
  number: number;
  /** What comes after the last of several passes: the fallback. */
  isEnd: boolean;
}

export type Shared = ReadonlyMap<string, LadderBody>;

/** All that an alert of a rule climbs: each pass begins so long after the last step's time of the one before. */
export function climbOf(shared: Shared, { ladder, escalations }: RuleBody): ClimbStep[] {
  const body = shared.get(ladder ?? "");
  const steps = body?.steps ?? escalations;
  const { passes, pass_after_minutes: pause } = body ?? { passes: 1, pass_after_minutes: null };
  if (steps.length === 0) return [];
  const lap = Math.max(...steps.map((step) => step.after_minutes)) + (pause ?? 0);
  const climb: ClimbStep[] = [];
  for (let pass = 0; pass < passes; pass += 1)
    for (const [i, step] of steps.entries())
      climb.push({
        ...step,
        after_minutes: step.after_minutes + pass * lap,
        number: i + 1,
        isEnd: false,
      });
  if (passes === 1) return climb;
  const end = { accounts: [], schedules: [], after_minutes: passes * lap, repeat_minutes: 0 };
  return [...climb, { ...end, number: steps.length, isEnd: true }];
}

/** What a rule is by a body: who knows no ladders, and writes the steps of the one that it names, leaves it; else they are its own. */
export function meant(shared: Shared, before: RuleBody | undefined, body: RuleBody): RuleBody {
  if (body.ladder !== undefined) return body;
  const steps = shared.get(before?.ladder ?? "")?.steps;
  return isDeepStrictEqual(steps, body.escalations)
    ? { ...body, escalations: [], ladder: before?.ladder }
    : { ...body, ladder: null };
}

/** Takes one fact into what is known of ladders. */
export function readLadder(shared: Map<string, LadderBody>, fact: Fact): void {
  if (fact.what === "laddered") {
    shared.delete(fact.name);
    shared.set(fact.to, fact.body);
  } else if (fact.what === "unladdered" && !fact.refused) shared.delete(fact.name);
}

/** A rule's body once a ladder has another name. */
export function renamed<Body extends RuleBody | null>(body: Body, from: string, to: string): Body {
  return body?.ladder === from ? { ...body, ladder: to } : body;
}

export interface LadderVerbs {
  /** As they are now. */
  readonly shared: Shared;
  /** Makes a ladder, or replaces one, also under another name. */
  put(ladder: { name: string; to: string; body: LadderBody }): void;
  /** Whether it could. */
  drop(name: string): boolean;
}

export function ladderVerbs(deps: {
  store(): Store;
  now(): number;
  facts: Fact[];
  /** Of all kinds of lines; those that name a ladder follow its name. */
  rules: (RuleBody | null)[];
  shared: Shared;
}): LadderVerbs {
  const { facts, rules } = deps;
  const shared = new Map(deps.shared);
  const tell = (fact: Fact) => {
    facts.push(fact);
    readLadder(shared, fact);
  };
  return {
    shared,
    put({ name, to, body }) {
      const isNew = !shared.has(name);
      deps.store().write((tx) => {
        if (isNew) insertLadder(tx, { name: to, ...body });
        else changeLadder(tx, { name, to: { name: to, ...body } });
      });
      tell({ what: "laddered", wall: deps.now(), name, to, body });
      for (const [i, rule] of rules.entries()) rules[i] = renamed(rule, name, to);
    },
    drop(name) {
      let refused = false;
      try {
        deps.store().write((tx) => deleteLadder(tx, name));
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== "ladder_in_use") throw error;
        refused = true;
      }
      tell({ what: "unladdered", name, refused });
      return !refused;
    },
  };
}
