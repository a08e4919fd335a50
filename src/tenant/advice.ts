import { findProject } from "../core/projects/projects.ts";
import { bodyOfRule, ruleCreate } from "../core/projects/rule.ts";
import { findRuleNamed } from "../core/projects/rules.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import { notFound, ServiceError } from "../ground/kit/errors.ts";
import type { Store } from "../ground/store/store.ts";
import type { DryRunInput } from "../in/ingest/dry-run/dry-run.ts";
import type { IngestHandle } from "../in/ingest/handle.ts";
import { findAdvice } from "../records/advice/find.ts";
import { hideAdvice } from "../records/advice/hidden.ts";
import {
  ADVICE_DAYS,
  type Advice,
  type AdviceAnswer,
  type AdviceProposal,
} from "../records/advice/shape.ts";
import { runTrial, type TrialPlace } from "./rule-trial.ts";

type Would = Advice["would"];
type TriedRule = DryRunInput["rule"];

/** What could be changed, with what dry runs said of it so far: that is in memory alone, and reckoned anew after a start. */
export type Adviser = ReturnType<typeof createAdviser>;

/** A dry run reads a month of lines: what it said stands for an hour, unless the rule changed. */
const KEPT_SECONDS = 3600;
/** Within this no further one is begun: what is left over is tried when somebody asks again. */
const BUDGET_MS = 4000;
/** Templates of a project that are looked at. */
const MOST_TEMPLATES = 200;

export function createAdviser(of: TrialPlace & { ingest: IngestHandle }) {
  const { store, slices, ingest, clock } = of;
  /** By the advice's id: what was said of the rule that it comes to. */
  const tried = new Map<string, { until: number; of: string; would: Would }>();
  let isAsking = false;

  const keptFor = (id: string, rule: string) => {
    const kept = tried.get(id);
    return kept?.of === rule && kept.until > unixSeconds(clock) ? kept : null;
  };

  const wouldOf = async (id: string, project: string, rule: TriedRule): Promise<Would> => {
    const now = unixSeconds(clock);
    for (const [old, { until }] of tried) if (until <= now) tried.delete(old);
    try {
      const found = await runTrial(of, project, {
        rule,
        days: ADVICE_DAYS,
        weeks: false,
      });
      const { alert_count, page_count, range, scanned } = found;
      const days = Math.max(1, Math.round((range.until - range.from) / 86_400));
      const would = scanned.lines === 0 ? null : { days, alert_count, page_count };
      tried.set(id, { until: now + KEPT_SECONDS, of: JSON.stringify(rule), would });
      return would;
    } catch (error) {
      // Somebody else tries a rule now, or it takes too long; or the project went meanwhile.
      const codes = ["overloaded", "not_found"];
      if (error instanceof ServiceError && codes.includes(error.code)) return null;
      throw error;
    }
  };

  /** Without its proof: in slices. */
  const proposals = () => {
    const unheardIn = ({ id }: { id: number }) =>
      ingest.templates(id, { unmatched: true, limit: MOST_TEMPLATES }).templates;
    return slices.run(findAdvice(store, { now: unixSeconds(clock), unheardIn }));
  };

  /** `isLate`: no further dry run is begun. */
  const told = async (isLate: () => boolean) => {
    const advice: Advice[] = [];
    let isAll = true;
    for (const { isTried, ...proposal } of await proposals()) {
      const { id, project } = proposal;
      const rule = isTried ? changedRule(of, proposal) : null;
      const kept = rule === null ? null : keptFor(id, JSON.stringify(rule));
      let would = kept?.would ?? null;
      if (rule !== null && project !== null && kept === null) {
        if (isLate()) isAll = false;
        else would = await wouldOf(id, project, rule);
      }
      advice.push({ ...proposal, would });
    }
    return { advice, isAll };
  };

  /** Each with what the dry run says of it, where lines are kept and there is time. */
  const whole = async (): Promise<AdviceAnswer> => {
    const begun = clock.mono();
    const { advice } = await told(() => clock.mono() - begun > BUDGET_MS);
    return { advice };
  };

  return {
    proposals,
    whole,
    /** At once: what no dry run has said so far is asked meanwhile, for whoever looks next. */
    async now(): Promise<AdviceAnswer> {
      const { advice, isAll } = await told(() => true);
      if (!isAll && !isAsking) {
        isAsking = true;
        // What fails is told where somebody waits for it.
        void whole()
          .catch(() => {})
          .finally(() => {
            isAsking = false;
          });
      }
      return { advice };
    },
  };
}

/** Not given for 90 days, in the caller's name. Throws 404 for what isn't given now. */
export async function hideOf(
  { store, advice }: { store: Store; advice: Adviser },
  id: string,
): Promise<{ id: string; until: number }> {
  const all = await advice.proposals();
  if (!all.some((one) => one.id === id)) throw notFound("advice");
  return store.write((tx) => hideAdvice(tx, id));
}

/** The rule of a proposal with its change, or a new one of what nobody hears; null where there is none any more. */
function changedRule(
  { store }: TrialPlace,
  { project: name, rule: ruleName, change }: Pick<AdviceProposal, "project" | "rule" | "change">,
): TriedRule | null {
  if (name === null || change === null) return null;
  if (ruleName === null) return ruleCreate.parse({ name: "new", ...change });
  const project = findProject(store, name);
  const rule = project && findRuleNamed(store, project.id, ruleName);
  return rule && { ...bodyOfRule(rule), name: ruleName, ...change };
}
