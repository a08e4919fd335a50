import { type Project, projectOf } from "../../../core/projects/projects.ts";
import { notFound } from "../../../ground/kit/errors.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { HeartbeatAnswer } from "../../../in/heartbeats/heartbeat.ts";
import { changeHeartbeat, rotateHeartbeat } from "../../../in/heartbeats/heartbeats.ts";
import { type HeartbeatRow, heartbeatRow } from "../../../in/heartbeats/rows.ts";
import { listRuns } from "../../../in/heartbeats/runs.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import {
  dropHeartbeat,
  readHeartbeat,
  takersOfHeartbeat,
  watchHeartbeat,
} from "../../../tenant/heartbeat-verbs.ts";
import { PING } from "../../http/ping.ts";
import { type Form, type PageCall, pathOf, type Screen } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { button, select } from "../ui/form.ts";
import { managers } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { runLegend, runRow, runTable } from "../ui/runs.ts";
import { clockTime } from "../ui/times.ts";
import { fieldsOfHeartbeat, heartbeatOfFields } from "./fields.ts";
import { heartbeatFields, recipientChoices, usualRecipient } from "./form.ts";
import { makeHeartbeatRule } from "./heartbeat-rule.ts";
import { lastWords, lateAt, nextWords, pauseButton } from "./list.ts";
import { addressNotice } from "./snippets.ts";
import { heartbeatBadge, paceWords } from "./state.ts";

/** The heartbeat of an address and its project. Throws 404. */
function heartbeatHere({ tenant: { store }, params }: PageCall) {
  const row = heartbeatRow(store, params["heartbeat"] ?? "");
  if (row === null) throw notFound("heartbeat");
  return { row, project: projectOf(store, row.project_id) };
}

/** What is done to one heartbeat, by what stands behind its address. */
const heartbeatActions: Readonly<Record<string, Form>> = {
  "": {
    verb: "changeHeartbeat",
    act(call, form) {
      const { row, project } = heartbeatHere(call);
      const body = heartbeatOfFields(form);
      call.tenant.store.write((tx) => changeHeartbeat(tx, project, { id: row.id, body }));
      return { said: `${body.name} is changed; at least its grace is left.` };
    },
  },
  pause: {
    verb: "pauseHeartbeat",
    async act(call) {
      const { row } = heartbeatHere(call);
      await watchHeartbeat(call.tenant, row.id, false);
      return {
        said: `${row.name} is paused: nobody waits for it.`,
        undo: { action: `/heartbeats/${row.id}/resume` },
      };
    },
  },
  resume: {
    verb: "resumeHeartbeat",
    async act(call) {
      const { row } = heartbeatHere(call);
      await watchHeartbeat(call.tenant, row.id, true);
      return {
        said: `${row.name} is watched again, from now on.`,
        undo: { action: `/heartbeats/${row.id}/pause` },
      };
    },
  },
  "own-ladder": {
    verb: "createRule",
    act(call, form) {
      const { row, project } = heartbeatHere(call);
      const recipient = form.get("recipient") ?? "";
      const rule = call.tenant.store.write((tx) =>
        makeHeartbeatRule(tx, project, { heartbeat: row, recipient }),
      );
      return { said: `The rule ${rule} is saved. It takes only this heartbeat.` };
    },
  },
  rotate: {
    verb: "rotateHeartbeat",
    act(call) {
      mustManage(call.who.role);
      const { row, project } = heartbeatHere(call);
      const { addresses } = call.tenant.store.write((tx) => rotateHeartbeat(tx, project, row.id));
      return {
        said: "A new address. The old one no longer works.",
        to: `/heartbeats/${row.id}`,
        shown: { ping_url: `${call.origin}${PING}/${addresses.secret}`, uuid: addresses.uuid },
      };
    },
  },
  delete: {
    verb: "deleteHeartbeat",
    async act(call) {
      const { row, project } = heartbeatHere(call);
      await dropHeartbeat(call.tenant, project, row.id);
      return {
        said: `${row.name} is deleted. Its address no longer works.`,
        to: pathOf("p", project.name, "heartbeats"),
      };
    },
  },
};

const RUNS = 100;

interface ShownBeat {
  row: HeartbeatRow;
  project: Project;
  beat: HeartbeatAnswer;
}

/** One job that must report: how it stands, its runs, what it said last, its address once, and its settings. */
export const heartbeatScreen: Screen = {
  path: "/heartbeats/{heartbeat}",
  view(call) {
    const { row, project } = heartbeatHere(call);
    const shown: ShownBeat = { row, project, beat: readHeartbeat(call.tenant, row) };
    const watches = ["heartbeats", `project:${project.name}`];
    return {
      title: row.name,
      heading: html`<a href="${call.base}/heartbeats" data-key="Escape" title="All heartbeats (Esc)">Heartbeats</a> › ${row.name}`,
      nav: "heartbeats",
      sections: {
        first: { watches, draw: () => firstPing(shown, call) },
        address: () => addressNotice(call.shown, row.cron),
        facts: { watches, turnsAt: lateAt(shown.beat), draw: () => facts(call, shown) },
        runs: { watches, draw: () => runs(call, row) },
        message: { watches, draw: () => lastMessage(row) },
        notified: { watches, draw: () => notified(call, shown) },
        change: () => changing(call, shown),
        away: { watches, draw: () => away(call, shown) },
      },
    };
  },
  forms: heartbeatActions,
};

/** Green with the first ping: where an address is pasted it is seen at once whether it works. */
function firstPing({ beat, row }: ShownBeat, call: PageCall): Markup {
  if (beat.state === "new" && row.last_at === null)
    return html`<p class="notice">◌ waiting for its first ping … <a class="noscript" href="${call.base}/heartbeats/${row.id}">Look again</a></p>`;
  if (
    row.last_at === null ||
    call.now - row.last_at > 3600 ||
    listRuns(call.tenant.store, row.id, 2).length > 1
  )
    return html``;
  return html`<p class="notice notice-good"><span class="good">✓ ${row.name} has reported</span>, ${clockTime(call, row.last_at)}: it is expected from now on.</p>`;
}

function facts(call: PageCall, { beat, project }: ShownBeat): Markup {
  const { watch } = beat;
  const isUntold = beat.rule === null;
  return html`<p>${heartbeatBadge(beat)} · <a href="${call.base}${pathOf("p", project.name, "heartbeats")}">${project.name}</a> · ${paceWords(beat)}${lastWords(call, beat)}${nextWords(call, beat)}</p>
${watch?.source !== undefined && html`<p class="soft">Reports of the source ${watch.source} about this job count here.</p>`}${watch?.match !== undefined && html`<p class="soft">Events of ${watch.adapter} count as its ping, too: <code>${JSON.stringify(watch.match)}</code></p>`}${isUntold && html`<p class="wrong">No rule matches it: nobody is notified.</p>`}<div class="buttons">${isUntold && html`<a class="button" href="#own-ladder">Choose who is notified</a>`}${pauseButton(call, beat)}<a class="button second" href="${call.base}/silences/new?heartbeat=${beat.id}">Silence …</a></div>${changesLink(call, "heartbeat", beat.id)}`;
}

function runs(call: PageCall, { id }: HeartbeatRow): Markup {
  const all = listRuns(call.tenant.store, id, RUNS);
  if (all.length === 0) return html`<h2>Runs</h2><p class="soft">No run was reported yet.</p>`;
  return html`<h2>Runs</h2>${runRow(call, all)}${runLegend}<details id="run-table"><summary>${counted(all.length, "run")} as a table</summary>${runTable(call, all)}</details>`;
}

function lastMessage({ last_message }: HeartbeatRow): Piece & Markup {
  if (last_message === null || last_message === "") return html``;
  return html`<h2>What it said last</h2><pre class="code wrap" id="last-message" tabindex="0">${last_message}</pre>`;
}

/** Which rules match it, or that none does. */
function notified(call: PageCall, { row, project }: ShownBeat): Markup {
  const rules = takersOfHeartbeat(call.tenant, row);
  const action = `/heartbeats/${row.id}/own-ladder`;
  const list =
    rules.length === 0
      ? html`<p class="wrong">No rule matches it: nobody is notified.</p>`
      : html`<p>Matched by ${rules.map((rule, i) => html`${i > 0 && ", "}<a href="${call.base}${pathOf("p", project.name, "rules", rule)}">${rule}</a>`)}.</p>`;
  const usual = usualRecipient(call, project.name);
  return html`<h2>Who is notified</h2>${list}<details id="own-ladder"${rules.length === 0 && html` open`}><summary>A ladder of its own</summary><form class="form" method="post" action="${call.base}${action}">${select(
    call,
    action,
    {
      name: "recipient",
      label: "Page",
      value: usual[0]?.value ?? `a:${call.who.accountId}`,
      choices: [...usual, ...recipientChoices(call, project.name)],
      hint: `This makes a rule for this heartbeat alone.${rules.length > 0 ? " The rules above still match it, too." : ""}`,
    },
  )}<p class="form-foot"><button class="button second">Make the rule</button></p></form></details>`;
}

function changing(call: PageCall, { beat }: ShownBeat): Markup {
  const action = `/heartbeats/${beat.id}`;
  const isBack = call.returned?.action === action;
  const fields = isBack && call.returned ? call.returned.form : fieldsOfHeartbeat(beat);
  return html`<details id="settings"${isBack && html` open`}><summary>Change it</summary><form class="form" method="post" action="${call.base}${action}">${heartbeatFields(call, action, fields)}
<p class="form-foot"><button class="button">Save</button></p></form></details>`;
}

function away(call: PageCall, { row, project }: ShownBeat): Markup {
  const { id, name } = row;
  const runs = listRuns(call.tenant.store, id, RUNS).length;
  const mayRotate = isManager(call.who.role);
  return html`<details id="rotate"><summary>Replace its address</summary><p class="soft">The old address stops working at once. Until the job has the new one, the heartbeat counts as missing.</p>${button(
    call,
    {
      action: `/heartbeats/${id}/rotate`,
      name: "Make a new address",
      kind: "second",
      ...(mayRotate ? {} : { why: `Owners and admins do that. Ask ${managers(call)}.` }),
    },
  )}</details>
<details id="delete"><summary>Delete it</summary><p>With it go its address, which answers 404 from then on, and ${counted(runs, "run")} that ${runs === 1 ? "is" : "are"} kept. ${row.state === "down" ? "The alert that it is missing ends. " : ""}Alerts and rules of ${project.name} stay. It can’t be undone.</p>${button(call, { action: `/heartbeats/${id}/delete`, name: `Delete ${name}`, kind: "danger" })}</details>`;
}
