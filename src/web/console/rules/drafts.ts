import { alertId, getAlertRow } from "../../../core/alerts/alert.ts";
import { ladderInPassing } from "../../../core/projects/ladders.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { bodyOfRule, ruleCreate } from "../../../core/projects/rule.ts";
import { getRule } from "../../../core/projects/rules.ts";
import { notFound } from "../../../ground/kit/errors.ts";
import { findLine } from "../../../in/ingest/logtail.ts";
import { longestFixed, textOfTemplate } from "../../../in/ingest/templates.ts";
import type { PageCall } from "../screen.ts";
import { fieldsOfRule } from "./fields.ts";

/** What a new rule begins with: nothing, a template, a line, an alert or another rule, as its address says. Throws 404. */
export function firstFields(call: PageCall, project: Project): URLSearchParams {
  const { query } = call;
  const asked = (name: string) => {
    const text = query.get(name) ?? "";
    return text === "" ? null : text;
  };
  const template = asked("template");
  if (template !== null) return fromTemplate(call, project, template);
  const missing = asked("missing");
  if (missing !== null) return fromMissing(call, project, missing);
  const line = asked("line");
  if (line !== null) return fromLine(call, project, line);
  const alert = asked("alert");
  if (alert !== null) return fromAlert(call, project, alert);
  const copy = asked("copy");
  if (copy !== null) return copyOf(call, project, copy);
  return fieldsOf(call, project, { match: { min_level: 400 } });
}

/** Most templates that are looked through for one. */
const MOST_TEMPLATES = 100_000;

function fromTemplate(call: PageCall, project: Project, id: string): URLSearchParams {
  const { ingest } = call.tenant;
  const root = ingest.rootOf(project.id, id);
  const all = ingest.templates(project.id, { limit: MOST_TEMPLATES }).templates;
  const found = all.find(({ template_id }) => template_id === root || template_id === id);
  if (found === undefined) throw notFound("template");
  const match = {
    min_level: found.level ?? null,
    sources: found.source === "" ? [] : [found.source],
    template_contains: longestFixed(found.template),
  };
  return fieldsOf(call, project, { match });
}

/** A template that no longer comes. */
function fromMissing(call: PageCall, project: Project, id: string): URLSearchParams {
  if (textOfTemplate(call.tenant.store, project.id, id) === "") throw notFound("template");
  return fieldsOf(call, project, { missing: { template_id: id } });
}

/** Its keys are offered as conditions, none of them chosen. */
function fromLine(call: PageCall, project: Project, id: string): URLSearchParams {
  const line = findLine(call.tenant.store, project.id, id);
  if (line === null) throw notFound("line");
  const match = {
    min_level: line.level,
    sources: line.source === "" ? [] : [line.source],
    template_contains: longestFixed(line.template),
  };
  const fields = fieldsOf(call, project, { match });
  for (const [key, value] of Object.entries(line.keys).slice(0, 30))
    fields.append("offer", JSON.stringify([key, value]));
  return fields;
}

function fromAlert(call: PageCall, project: Project, id: string): URLSearchParams {
  const row = getAlertRow(call.tenant.store, alertId(id));
  if (row.project_id !== project.id) throw notFound("alert");
  const identifiers = JSON.parse(row.identifiers) as Record<string, string>;
  const match = { min_level: row.level, template_contains: longestFixed(row.template) };
  const fields = fieldsOf(call, project, { match, identifier_keys: Object.keys(identifiers) });
  for (const pair of Object.entries(identifiers)) fields.append("offer", JSON.stringify(pair));
  return fields;
}

function copyOf(call: PageCall, project: Project, name: string): URLSearchParams {
  const rule = bodyOfRule(getRule(call.tenant.store, project.id, name));
  return fieldsOfRule({ ...rule, name: `${name} copy` });
}

/** With the project's default ladder; without one whoever makes it is paged first: a rule without a ladder wakes nobody. */
function fieldsOf(
  { tenant, who }: PageCall,
  project: Project,
  begun: { match?: object; identifier_keys?: string[]; missing?: object },
): URLSearchParams {
  const own = { accounts: [who.accountId], schedules: [], after_minutes: 0, repeat_minutes: 5 };
  const climbs = ladderInPassing(tenant.store, project, { steps: () => [own] });
  const rule = ruleCreate.parse({ name: "new", ...begun, ...climbs });
  const fields = fieldsOfRule(rule);
  fields.set("name", "");
  return fields;
}
