import { alertId, getAlertRow } from "../../../core/alerts/alert.ts";
import { narrowestSilence } from "../../../core/alerts/narrowest.ts";
import { makeSilence } from "../../../core/alerts/silencing.ts";
import { getProject, projectOf } from "../../../core/projects/projects.ts";
import { getRule } from "../../../core/projects/rules.ts";
import { getSource } from "../../../core/projects/sources.ts";
import { type SilenceWrite, silenceWrite } from "../../../core/quiet/silence.ts";
import { getSilence, toSilence } from "../../../core/quiet/silences.ts";
import { notFound } from "../../../ground/kit/errors.ts";
import { html } from "../../../ground/kit/html.ts";
import { heartbeatRow } from "../../../in/heartbeats/rows.ts";
import { findHeartbeatSource } from "../../../in/heartbeats/source.ts";
import { findLine } from "../../../in/ingest/logtail.ts";
import { takersOfHeartbeat } from "../../../tenant/heartbeat-verbs.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { localText } from "../ui/local-time.ts";
import { silenceName } from "../ui/silence-words.ts";
import { wouldWords } from "../ui/silence-would.ts";
import { timeOnClock } from "../ui/times.ts";
import { trying, typedIn } from "../ui/trying.ts";
import { fieldsOfMatch, writeOfFields } from "./fields.ts";
import { NEW_SILENCE, silenceForm } from "./form.ts";

/** A silence, or a maintenance, that isn't there yet: what it would do is said before it is made. */
export const newSilenceScreen: Screen = {
  path: NEW_SILENCE,
  view(call) {
    const fields = typedIn(call, NEW_SILENCE) ?? firstSilence(call);
    const isPlanned = fields.get("kind") === "maintenance";
    return {
      title: isPlanned ? "Plan a maintenance" : "New silence",
      nav: "silences",
      sections: {
        form: () => silenceForm(call, fields),
        would: () => wouldSection(call, fields),
      },
      body: (
        put,
      ) => html`<p class="soft">Alerts that match still open and count events, but nobody is notified until the silence ends. Those that are open then ring. Critical alerts still ring, unless you include them below.</p>
<div class="rule-columns">${put("form")}${put("would")}</div>`,
    };
  },
  forms: {
    "": { verb: "createSilence", act: create },
    try: trying("previewSilence"),
  },
};

const NARROWING = [
  "match/rule",
  "match/identifiers",
  "labels",
  "match/sources",
  "match/template_id",
];

async function wouldSection(call: PageCall, fields: URLSearchParams) {
  const says = [...NARROWING, "pairs", "said", "names", "conditions", "all"];
  if (!says.some((name) => (fields.get(name) ?? "") !== ""))
    return html`<div class="card"><h2>What it would do</h2><p class="soft">Say which alerts: what it takes now, and what it would have kept back, is shown here.</p></div>`;
  const named = new URLSearchParams(fields);
  // It can be seen before it has a reason.
  if ((fields.get("reason") ?? "").trim() === "") named.set("reason", "?");
  return html`<div class="card"><h2>What it would do</h2>${await wouldWords(call, () => writeOfFields(call, named))}</div>`;
}

function create(call: PageCall, form: URLSearchParams) {
  const write = writeOfFields(call, form);
  const row = call.tenant.store.write((tx) =>
    makeSilence(tx, { write, createdBy: call.who.accountId }),
  );
  const silence = toSilence(call.tenant.store, row, call.now);
  const name = silenceName(silence);
  const back = form.get("back") ?? "";
  const until = timeOnClock(call, silence.ends_at);
  return {
    said: silence.state === "active" ? `Silenced until ${until}: ${name}.` : `Planned: ${name}.`,
    undo: { action: `/silences/${row.id}/end` },
    to: /^\d{1,15}$/.test(back) ? pathOf("a", back) : "/silences",
  };
}

const DAY = 86_400;

/**
 * What a new silence begins with, by its address: nothing, or what an alert, a rule, a line, a template, a heartbeat, a
 * source or another silence says. Throws 404.
 */
function firstSilence(call: PageCall): URLSearchParams {
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
