import { alertId, getAlertRow } from "../../../core/alerts/alert.ts";
import { narrowestSilence } from "../../../core/alerts/narrowest.ts";
import { getProject, projectOf } from "../../../core/projects/projects.ts";
import { getRule } from "../../../core/projects/rules.ts";
import { getSource } from "../../../core/projects/sources.ts";
import { type SilenceWrite, silenceWrite } from "../../../core/quiet/silence.ts";
import { getSilence, toSilence } from "../../../core/quiet/silences.ts";
import { notFound } from "../../../ground/kit/errors.ts";
import { heartbeatRow } from "../../../in/heartbeats/rows.ts";
import { findHeartbeatSource } from "../../../in/heartbeats/source.ts";
import { findLine } from "../../../in/ingest/logtail.ts";
import { takersOfHeartbeat } from "../../../tenant/heartbeat-verbs.ts";
import type { PageCall } from "../screen.ts";
import { localText } from "../ui/local-time.ts";
import { fieldsOfMatch } from "./fields.ts";

const DAY = 86_400;

/**
 * What a new silence begins with, by its address: nothing, or what an alert, a rule, a line, a template, a heartbeat, a
 * source or another silence says. Throws 404.
 */
export function firstSilence(call: PageCall): URLSearchParams {
  const asked = (name: string) => call.query.get(name) ?? "";
  const of = KINDS.find((name) => asked(name) !== "");
  const fields = of === undefined ? fieldsOf({}) : MAKE[of](call, asked(of), asked("project"));
  if (asked("kind") === "maintenance") fields.set("kind", "maintenance");
  if (fields.get("kind") === "maintenance") setPlan(call, fields);
  fields.set("until", "1h");
  return fields;
}

const KINDS = ["alert", "again", "rule", "line", "template", "heartbeat", "source"] as const;

type Make = (call: PageCall, id: string, project: string) => URLSearchParams;

const MAKE: Readonly<Record<(typeof KINDS)[number], Make>> = {
  alert({ tenant: { store } }, id) {
    const row = getAlertRow(store, alertId(id));
    const write = narrowestSilence(store, row, { ends_at: 1, reason: "" });
    return withRest(fieldsOfMatch(write), write);
  },
  again({ tenant: { store }, now }, id) {
    const silence = toSilence(store, getSilence(store, id), now);
    return withRest(fieldsOfMatch(silence), silence);
  },
  rule({ tenant: { store } }, name, project) {
    const { name: rule } = getRule(store, getProject(store, project).id, name);
    return fieldsOf({ project, match: { rule } });
  },
  line({ tenant: { store } }, id, project) {
    const line = findLine(store, getProject(store, project).id, id);
    if (line === null) throw notFound("line");
    const sources = line.source === "" ? [] : [line.source];
    return fieldsOf({ project, match: { template_id: line.template_id, sources } });
  },
  template({ tenant: { ingest, store } }, id, project) {
    const root = ingest.rootOf(getProject(store, project).id, id);
    return fieldsOf({ project, match: { template_id: root } });
  },
  heartbeat({ tenant }, id) {
    const row = heartbeatRow(tenant.store, id);
    if (row === null) throw notFound("heartbeat");
    const { name: project, id: projectId } = projectOf(tenant.store, row.project_id);
    const [rule] = takersOfHeartbeat(tenant, row);
    const keys = rule === undefined ? [] : getRule(tenant.store, projectId, rule).identifier_keys;
    const own = { heartbeat: row.name, slug: row.slug };
    const told = Object.entries(own).filter(([key]) => keys.includes(key));
    const source = findHeartbeatSource(tenant.store, projectId);
    const sources = source === null ? [] : [source.name];
    return fieldsOf({ project, match: { sources, identifiers: Object.fromEntries(told) } });
  },
  source({ tenant: { store } }, name, project) {
    const { name: source } = getSource(store, getProject(store, project), name);
    return fieldsOf({ project, match: { sources: [source] } });
  },
};

function fieldsOf(of: { project?: string; match?: Record<string, unknown> }): URLSearchParams {
  return fieldsOfMatch(silenceWrite.parse({ ...of, ends_at: 1, reason: "?" }));
}

function withRest(
  fields: URLSearchParams,
  {
    critical,
    all,
    kind,
    name,
    reason,
  }: Pick<SilenceWrite, "critical" | "all" | "kind" | "name" | "reason">,
): URLSearchParams {
  if (critical) fields.set("critical", "on");
  if (all) fields.set("all", "on");
  fields.set("kind", kind);
  fields.set("name", name);
  fields.set("reason", reason);
  return fields;
}

/** Two hours tomorrow at this time, once; where it repeats, for three months. */
function setPlan({ now, look: { zone } }: PageCall, fields: URLSearchParams): void {
  const from = Math.ceil((now + DAY) / 3600) * 3600;
  for (const [name, at] of [
    ["starts_at", from],
    ["ends_at", from + 7200],
    ["repeat_until", from + 90 * DAY],
  ] as const) {
    fields.set(name, localText(zone, at));
    fields.set(`${name}-known`, String(at));
  }
  fields.set("timezone", zone);
  fields.set("repeat", "none");
}
