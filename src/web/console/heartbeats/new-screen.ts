import { isTimezone } from "../../../core/oncall/zone.ts";
import { configVersions, findProject, getProject } from "../../../core/projects/projects.ts";
import { invalid, ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { createHeartbeat } from "../../../in/heartbeats/heartbeats.ts";
import { cronOfCalendar } from "../../../in/heartbeats/on-calendar.ts";
import { cronFault, nextTime } from "../../../in/heartbeats/times.ts";
import { PING } from "../../http/ping.ts";
import type { FormDone, PageCall, Screen } from "../screen.ts";
import { empty } from "../ui/pieces.ts";
import { clockTime } from "../ui/times.ts";
import { trying, typedIn } from "../ui/trying.ts";
import { heartbeatOfFields, newHeartbeatFields } from "./fields.ts";
import { heartbeatFields, projectField, recipientField } from "./form.ts";
import { makeHeartbeatRule } from "./heartbeat-rule.ts";

const NEW_HEARTBEAT = "/heartbeats/new";
const TRY = `${NEW_HEARTBEAT}/try`;

/** A job that is to report from now on: its address is shown once, on its page. */
export const newHeartbeatScreen: Screen = {
  path: NEW_HEARTBEAT,
  view(call) {
    const fields = typedIn(call, NEW_HEARTBEAT) ?? newHeartbeatFields(call.look.zone);
    return {
      title: "New heartbeat",
      nav: "heartbeats",
      sections: {
        form: () => form(call, fields),
        would: () => expected(call, fields),
      },
      body: (put) => html`<div class="rule-columns">${put("form")}${put("would")}</div>`,
    };
  },
  forms: {
    "": { verb: "createHeartbeat", act: create },
    try: trying("previewHeartbeat"),
  },
};

function form(call: PageCall, fields: URLSearchParams): Markup {
  const projects = configVersions(call.tenant.store).map(({ project }) => project);
  if (projects.length === 0)
    return empty(
      "A heartbeat belongs to a project, and there is none yet.",
      html`<a class="button" href="${call.base}/p">Make a project</a>`,
    );
  const asked = call.query.get("project");
  const known = asked !== null && findProject(call.tenant.store, asked) !== null ? asked : null;
  const project = fields.get("project") ?? known ?? projects[0] ?? "";
  return html`<form class="form" method="post" action="${call.base}${NEW_HEARTBEAT}" data-preview="would" data-preview-to="${call.base}${TRY}">
${projectField(call, NEW_HEARTBEAT, project)}
${heartbeatFields(call, NEW_HEARTBEAT, fields)}
${recipientField(call, NEW_HEARTBEAT, known)}
<p class="form-foot"><button class="button" data-busy="Saving …">Create heartbeat</button><button class="second" formaction="${call.base}${TRY}#would" formnovalidate>Show when it is expected</button> <a href="${call.base}/heartbeats">Cancel</a></p></form>`;
}

const TIMES = 3;

/** When it would be expected, had it reported now. */
export function expected(call: PageCall, fields: URLSearchParams): Markup {
  const heading = html`<h2>When it is expected</h2>`;
  try {
    const named = new URLSearchParams(fields);
    if ((fields.get("name") ?? "").trim() === "") named.set("name", "?");
    const { pace, grace } = paceOfFields(named, call.now);
    const times: number[] = [];
    for (let at = call.now; times.length < TIMES; ) {
      const next = nextTime(pace, at);
      if (next === null) break;
      times.push(next);
      at = next;
    }
    const [first = call.now] = times;
    return html`${heading}<p>${pace.period === null ? "Next" : "Had it just reported"}: ${times.map((at, i) => html`${i > 0 && ", "}${clockTime(call, at)}`)}</p><p class="soft">An alert opens when nothing has come by ${clockTime(call, first + grace)}. Until it reports for the first time nobody waits for it.</p>`;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return html`${heading}<p class="soft">Not yet: ${error.message}${error.details.map(
      ({ field = "", reason }) => html` <span class="small">${field.slice(1)} ${reason}.</span>`,
    )}</p>`;
  }
}

function paceOfFields(fields: URLSearchParams, now: number) {
  const body = heartbeatOfFields(fields);
  const calendar = body.oncalendar === undefined ? null : cronOfCalendar(body.oncalendar);
  if (typeof calendar === "string") throw invalid([{ field: "/oncalendar", reason: calendar }]);
  const cron = calendar?.cron ?? body.cron ?? null;
  const timezone = calendar?.timezone ?? body.timezone ?? "UTC";
  if (!isTimezone(timezone)) throw invalid([{ field: "/timezone", reason: "is no IANA name" }]);
  const fault = cron === null ? null : cronFault(cron, timezone, now);
  if (fault !== null) throw invalid([{ field: "/cron", reason: fault }]);
  const pace = { period: body.period_seconds ?? null, cron, timezone };
  return { pace, grace: body.grace_seconds ?? 0 };
}

function create({ tenant, origin }: PageCall, fields: URLSearchParams): FormDone {
  const body = heartbeatOfFields(fields);
  const recipient = fields.get("recipient") ?? "";
  const { row, addresses } = tenant.store.write((tx) => {
    const project = getProject(tx, fields.get("project") ?? "");
    const made = createHeartbeat(tx, project, { tenantId: tenant.id, body });
    if (recipient !== "") makeHeartbeatRule(tx, project, { heartbeat: made.row, recipient });
    return made;
  });
  return {
    said: `${row.name} is made. Its address is shown this once.`,
    to: `/heartbeats/${row.id}`,
    shown: { ping_url: `${origin}${PING}/${addresses.secret}`, uuid: addresses.uuid },
  };
}
