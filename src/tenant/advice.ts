import { getProject } from "../core/projects/projects.ts";
import { bodyOfRule, ruleCreate } from "../core/projects/rule.ts";
import { findRuleNamed } from "../core/projects/rules.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import { notFound, ServiceError } from "../ground/kit/errors.ts";
import type { DryRunInput } from "../in/ingest/dry-run/dry-run.ts";
import { findAdvice } from "../records/advice/find.ts";
import { hideAdvice } from "../records/advice/hidden.ts";
import {
  ADVICE_DAYS,
  type Advice,
  type AdviceAnswer,
  type AdviceProposal,
} from "../records/advice/shape.ts";
import { runTrial } from "./rule-trial.ts";
import type { Tenant } from "./tenant.ts";

type Would = Advice["would"];

/** A dry run reads a month of lines: what it said stands for an hour, unless the rule changed. */
const KEPT_SECONDS = 3600;
/** Within this no further one is begun: what is left over is tried when somebody asks again. */
const BUDGET_MS = 4000;
/** Templates of a project that are looked at. */
const MOST_TEMPLATES = 200;

interface Tried {
  until: number;
  of: string;
  would: Would;
}
const tried = new WeakMap<Tenant, Map<string, Tried>>();

/** What could be changed, without its proof: in slices. */
export function proposalsOf(tenant: Tenant): Promise<AdviceProposal[]> {
  const { store, slices, ingest, clock } = tenant;
  const unheardIn = ({ id }: { id: number }) =>
    ingest.templates(id, { unmatched: true, limit: MOST_TEMPLATES }).templates;
  return slices.run(findAdvice(store, { now: unixSeconds(clock), unheardIn }));
}

/** What could be changed, as `adviceOf` but at once: what no dry run has said so far is asked meanwhile, for whoever looks next. */
export async function adviceNow(tenant: Tenant): Promise<AdviceAnswer> {
  let isAsked = true;
  const advice = (await proposalsOf(tenant)).map(({ isTried, ...proposal }): Advice => {
    const rule = isTried ? changedRule(tenant, proposal) : null;
    const kept = rule === null ? null : keptFor(tenant, proposal.id, JSON.stringify(rule));
    isAsked &&= rule === null || kept !== null;
    return { ...proposal, would: kept?.would ?? null };
  });
  if (!isAsked) askBehind(tenant);
  return { advice };
}

const asking = new WeakSet<Tenant>();

/** What fails is told where somebody waits for it. */
function askBehind(tenant: Tenant): void {
  if (asking.has(tenant)) return;
  asking.add(tenant);
  adviceOf(tenant)
    .catch(() => {})
    .finally(() => asking.delete(tenant));
}

/** What could be changed, each with what the dry run says of it where lines are kept. */
export async function adviceOf(tenant: Tenant): Promise<AdviceAnswer> {
  const begun = tenant.clock.mono();
  const advice: Advice[] = [];
  for (const { isTried, ...proposal } of await proposalsOf(tenant)) {
    const rule = isTried ? changedRule(tenant, proposal) : null;
    const isLate = tenant.clock.mono() - begun > BUDGET_MS;
    advice.push({ ...proposal, would: await wouldOf(tenant, { ...proposal, rule }, isLate) });
  }
  return { advice };
}

/** Not given for 90 days. Throws 404 for what isn't given now. */
export async function hideOf(tenant: Tenant, id: string): Promise<{ id: string; until: number }> {
  const all = await proposalsOf(tenant);
  if (!all.some((one) => one.id === id)) throw notFound("advice");
  return tenant.store.write((tx) => hideAdvice(tx, id));
}

/** The rule of a proposal with its change, or a new one of what nobody hears. */
function changedRule(
  tenant: Tenant,
  { project, rule: name, change }: Pick<AdviceProposal, "project" | "rule" | "change">,
): DryRunInput["rule"] | null {
  if (project === null || change === null) return null;
  if (name === null) return ruleCreate.parse({ name: "new", ...change });
  const rule = findRuleNamed(tenant.store, getProject(tenant.store, project).id, name);
  return rule === null ? null : { ...bodyOfRule(rule), name, ...change };
}

/** What was tried for this rule, where it still stands. */
function keptFor(tenant: Tenant, id: string, of: string): Tried | null {
  const kept = tried.get(tenant)?.get(id);
  return kept?.of === of && kept.until > unixSeconds(tenant.clock) ? kept : null;
}

async function wouldOf(
  tenant: Tenant,
  { id, project, rule }: { id: string; project: string | null; rule: DryRunInput["rule"] | null },
  isLate: boolean,
): Promise<Would> {
  if (rule === null || project === null) return null;
  const known = tried.get(tenant) ?? new Map<string, Tried>();
  tried.set(tenant, known);
  const now = unixSeconds(tenant.clock);
  const of = JSON.stringify(rule);
  const before = keptFor(tenant, id, of);
  if (before !== null) return before.would;
  if (isLate) return null;
  for (const [old, { until }] of known) if (until <= now) known.delete(old);
  try {
    const found = await runTrial(tenant, project, { rule, days: ADVICE_DAYS });
    const { alert_count, page_count, range, scanned } = found;
    const days = Math.max(1, Math.round((range.until - range.from) / 86_400));
    const would = scanned.lines === 0 ? null : { days, alert_count, page_count };
    known.set(id, { until: now + KEPT_SECONDS, of, would });
    return would;
  } catch (error) {
    // Somebody else tries a rule now, or it takes too long.
    if (error instanceof ServiceError && error.code === "overloaded") return null;
    throw error;
  }
}
