import { labelsOf } from "../../../core/alerts/labels.ts";
import { nextRung, wholeLadder } from "../../../core/alerts/ladder.ts";
import { labelsApart } from "../../../core/alerts/narrowest.ts";
import { onCallNow } from "../../../core/oncall/duty.ts";
import { projectOf } from "../../../core/projects/projects.ts";
import { usableNames } from "../../../core/projects/schedule-names.ts";
import { CRITICAL } from "../../../core/quiet/decide.ts";
import { labelText } from "../../../core/quiet/label-text.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { reportOfAlert } from "../../../records/reports/reports.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { assignFields, criticalField, hoursButtons, reasonField } from "../ui/alert-pieces.ts";
import { button, keyed } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { resolveButton } from "./now.ts";
import type { ShownAlert } from "./shown-alert.ts";

/** Labels that vary of which a menu speaks. */
const MOST_FOLDS = 3;

/** The one that counts at night; on a phone it is fixed at the bottom. Where it stood nothing is pressed any more: a tap may come twice. */
export function mainAction(call: PageCall, shown: ShownAlert): Markup {
  const { id, state, acked_by } = shown.row;
  const path = `/a/${id}`;
  if (state === "resolved")
    return html`<p class="soft">The next matching event opens a new alert.</p>${reportLink(call, shown)}`;
  // Where a notification has no button of its own, a tap comes here for just this.
  const first = call.query.get("from") === "push";
  const isOwn = acked_by === call.who.accountId;
  const place =
    state === "open"
      ? button(call, { action: `${path}/ack`, name: "Acknowledge", key: "a", first, id: "do-ack" })
      : html`<div class="spot"><p class="taken">${icon("check", "small")}<span>${isOwn ? "You have it" : "Taken"}</span></p>${isOwn && button(call, { action: `${path}/unack`, name: "Undo", kind: "plain", id: "do-unack", label: "Undo: open it again" })}</div>`;
  return html`${place}<button class="button second icon" type="button" popovertarget="more" aria-label="More actions">${icon("more")}</button>`;
}

/** All else that is done to an alert. At a desk it lies open in one line, but for the `rest`. */
export function moreActions(call: PageCall, shown: ShownAlert): Markup {
  const { row } = shown;
  const path = `/a/${row.id}`;
  if (row.state === "resolved") return html``;
  const of = (what: string, id: string) => ({ call, id, action: `${path}/${what}` });
  return html`<h2 class="hidden-text">More actions</h2>
<div class="buttons">${escalate(call, shown)}
<details class="menu" id="assign"${cameBack(call, `${path}/assign`)}><summary class="button second" title="Assign">Assign …</summary><form class="form" method="post" action="${call.base}${path}/assign">${assignFields(of("assign", "assign"), schedulesOf(call, shown))}<div class="form-foot"><button class="button" data-busy="Paging …">Page them now</button></div></form></details>
${silenceMenu(call, path, shown)}
<details class="menu rest" id="snooze"${cameBack(call, `${path}/snooze`)}><summary class="button second" title="Snooze">Snooze …</summary><form class="form" method="post" action="${call.base}${path}/snooze"><p class="soft">You have it until then; after that it is open again.</p>${hoursButtons("Snooze")}</form></details>
<a class="button second rest" href="#note-text">Note</a>${
    row.state === "open"
      ? resolveButton(call, row.id)
      : row.acked_by !== call.who.accountId &&
        button(call, {
          action: `${path}/unack`,
          name: "Un-acknowledge",
          kind: "second",
          id: "do-unack",
        })
  }${reportLink(call, shown)}</div>`;
}

/** A menu whose form wasn't taken stands open: what was typed is in it. */
const cameBack = ({ returned }: PageCall, action: string): Piece =>
  returned?.action === action && html` open`;

/** Opened by its key the button has the focus: a second key silences for an hour. What it would do is asked for then. */
function silenceMenu(call: PageCall, path: string, shown: ShownAlert): Markup {
  const { id, level } = shown.row;
  const labels = labelsApart(call.tenant.store, shown.row);
  const action = `${path}/silence`;
  return html`<details class="menu" id="silence"${cameBack(call, action)}><summary class="button second"${keyed("s", "Silence")}>Silence …</summary><div><form class="form" method="post" action="${call.base}${action}" data-preview="would" data-preview-to="${call.base}${action}/try"><p class="soft">What this alert counts rings nobody until then${labels.length > 0 && html`, as long as ${labels.map((one, i) => html`${i > 0 && ", "}<code>${labelText(one)}</code>`)}`}.</p>${foldsWords(call, shown)}${reasonField({ call, action, id: "silence-reason" })}${level >= CRITICAL && criticalField({ call, action, id: "silence-critical" }, true)}${hoursButtons("Silence")}<a href="${call.base}/silences/new?alert=${id}">With more choice …</a></form><section id="would" data-live=""></section></div></details>`;
}

/** Of what its rule counts into one alert nothing can be silenced alone; as identifiers each has an alert of its own. */
function foldsWords({ base }: PageCall, { row, rule }: ShownAlert): Piece {
  const folds = Object.entries(labelsOf(row).varied).slice(0, MOST_FOLDS);
  if (folds.length === 0 || rule === null) return false;
  const to = `${base}${pathOf("p", row.project, "rules", rule.name)}`;
  return folds.map(
    ([name, values]) =>
      html`<p class="warn">Its rule counts several values of ${name} into this alert: ${values.join(", ")}. A silence takes all of them or none. <a href="${to}?identifier=${encodeURIComponent(name)}">Give each ${name} an alert of its own …</a></p>`,
  );
}

/** To the report for people outside: the one that it has, or a new one. */
function reportLink({ base, tenant }: PageCall, { row }: ShownAlert): Markup {
  const found = reportOfAlert(tenant.store, row.project_id, row.id);
  const to = pathOf("p", row.project, "reports", found ?? "new");
  return found === null
    ? html`<a class="button second rest" href="${base}${to}?alert=${row.id}">Start an incident report</a>`
    : html`<a class="button second rest" href="${base}${to}">Its incident report</a>`;
}

function escalate(call: PageCall, { row, rule }: ShownAlert): Markup {
  const isOver = rule === null || nextRung(wholeLadder(rule), row.step) === null;
  const why =
    rule === null
      ? "Its rule is gone."
      : rule.escalations.length === 0
        ? "Its rule has no ladder."
        : "Every rung of the ladder has run: assign somebody.";
  return button(call, {
    action: `/a/${row.id}/escalate`,
    name: "Escalate now",
    key: "e",
    kind: "second",
    ...(isOver && { why }),
  });
}

/** Schedules that the alert's project may name, with whom they have on call. */
function schedulesOf({ tenant: { store }, now }: PageCall, { row, nameOf }: ShownAlert) {
  const names = [...usableNames(store, projectOf(store, row.project_id))].slice(0, 50);
  return names.map((name) => {
    const accounts = onCallNow(store, { projectId: row.project_id, name }, now);
    return { name, now: accounts.length === 0 ? null : accounts.map(nameOf).join(", ") };
  });
}
