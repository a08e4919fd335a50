import { dropChannel } from "../../../core/alerts/switch-channel.ts";
import {
  changeIntegration,
  getIntegration,
  mustFind,
} from "../../../core/projects/integrations.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { getDelivery } from "../../../out/outbox/delivery-detail.ts";
import { errorWords } from "../../../out/outbox/error-words.ts";
import { eventKinds } from "../../../out/outbox/event.ts";
import { deliveryAnswer, listDeliveries } from "../../../out/outbox/rows.ts";
import { channelsNow } from "../../../tenant/channel-verbs.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { button } from "../ui/form.ts";
import { peopleNames } from "../ui/people-names.ts";
import { empty } from "../ui/pieces.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { ago } from "../ui/times.ts";
import { channelFields, channelWrite } from "./fields.ts";
import { channelActions, channelAt } from "./form-actions.ts";
import {
  deliveredWords,
  EVENT_WORDS,
  eventWord,
  healthDot,
  healthWords,
  statusWord,
} from "./words.ts";

function found({ tenant: { store }, params }: PageCall) {
  const project = getProject(store, params["project"] ?? "");
  return { project, row: mustFind(store, project, params["integration"] ?? "") };
}

/** One channel: how it fares, what it was sent, and how it is changed. */
export const channelScreen: Screen = {
  path: "/p/{project}/channels/{integration}",
  view(call) {
    const { project, row } = found(call);
    const title = row.name === "" ? row.type : row.name;
    const watches = [`channels:${project.name}`, `project:${project.name}`, `deliveries:${row.id}`];
    return {
      title: `${project.name} · ${title}`,
      heading: html`${title} <span class="soft small">${row.type}${row.url !== "" && ` · ${row.url}`}</span>`,
      nav: "projects",
      sections: {
        tabs: () => projectTabs(call, project.name, "channels"),
        health: { watches, draw: () => head(call) },
        filter: () => filterLine(call),
        deliveries: { watches, draw: () => deliveryTable(call) },
        ...(row.relay === 0
          ? {
              change: () => change(call),
              end: () => end(call, title),
            }
          : {}),
      },
    };
  },
  forms: {
    ...channelActions,
    change: {
      verb: "updateIntegration",
      act(call, form) {
        const { project, row } = found(call);
        const wanted = { id: row.id, write: channelWrite(call, form), guard: call.tenant };
        call.tenant.store.write((tx) => changeIntegration(tx, project, wanted));
        return { said: "Saved. A test shows whether it gets through.", to: channelAt(call.params) };
      },
    },
    delete: {
      verb: "deleteIntegration",
      act(call) {
        const { project, row } = found(call);
        call.tenant.store.write((tx) => dropChannel(tx, project, row.id));
        return {
          said: "The channel is deleted. Messages that waited for it are dropped.",
          to: pathOf("p", project.name, "channels"),
        };
      },
    },
  },
};

async function head(call: PageCall): Promise<Markup> {
  const { project, row } = found(call);
  const integration = getIntegration(call.tenant.store, project, { id: row.id });
  const [now] = await channelsNow(call.tenant, call.who.accountId, [integration]);
  if (now === undefined) return html``;
  const { health } = now;
  const at = channelAt(call.params);
  const isOff = health.state === "off";
  const said = health.state === "works" ? null : lastAnswer(call.tenant.store, row);
  return html`<p>${healthDot(health)} ${healthWords(call, health, peopleNames(call.tenant.store))}${deliveredWords(call, row.id)}</p>
${said !== null && html`<p class="soft">Its last answer: <span class="message">“${said}”</span></p>`}
<div class="buttons">${button(call, {
    action: `${at}/test`,
    name: "Send a test",
    kind: "second",
    key: "t",
    ...(isOff ? { why: "It is off: turn it on first." } : {}),
  })}${
    isOff
      ? button(call, { action: `${at}/enable`, name: "Turn on" })
      : button(call, { action: `${at}/disable`, name: "Turn off", kind: "second" })
  }</div>${changesLink(call, "integration", row.id)}`;
}

const PAGE = 100;

/** What the address asks for; what can't be is passed over. */
function askedDeliveries({ query }: PageCall) {
  const { data: status } = deliveryAnswer.shape.status.safeParse(query.get("status"));
  const event = eventKinds.find((kind) => kind === query.get("event"));
  const alert = /^#?([1-9]\d{0,14})$/.exec(query.get("alert")?.trim() ?? "")?.[1];
  return { status, event, alert: alert === undefined ? undefined : Number(alert) };
}

function filterLine(call: PageCall): Markup {
  const { status, event, alert } = askedDeliveries(call);
  const option = (value: string, name: string, chosen: string | undefined) =>
    html`<option value="${value}"${value === (chosen ?? "") && html` selected`}>${name}</option>`;
  return html`<h2>Deliveries</h2><form class="filters" method="get" action="${call.base}${channelAt(call.params)}">
<select id="f-status" name="status" aria-label="Status">${option("", "any status", status)}${deliveryAnswer.shape.status.options.map((one) => option(one, one, status))}</select>
<select id="f-event" name="event" aria-label="Event">${option("", "any event", event)}${eventKinds.map((one) => option(one, EVENT_WORDS[one] ?? one, event))}</select>
<input id="f-alert" name="alert" inputmode="numeric" size="8" aria-label="Alert" placeholder="alert #130" value="${alert === undefined ? "" : String(alert)}">
<button class="button second">Filter</button></form>`;
}

function deliveryTable(call: PageCall): Markup {
  const { row } = found(call);
  const asked = askedDeliveries(call);
  const all = listDeliveries(call.tenant.store, row.id, { ...asked, limit: PAGE });
  const at = channelAt(call.params);
  if (all.length === 0)
    return Object.values(asked).every((one) => one === undefined)
      ? empty(
          "Nothing was sent to this channel yet.",
          html`<p class="soft">Tests are not in this list.</p>`,
        )
      : empty(
          "No delivery matches the filter.",
          html`<a href="${call.base}${at}">Clear the filter</a>`,
        );
  return html`<div class="table-wrap"><table class="table stacked"><thead><tr><th>event</th><th>alert</th><th>status</th><th class="num">tries</th><th>made</th></tr></thead>
<tbody>${all.map(
    ({ id, event, alert_id, status, attempts, last_error, created_at }) =>
      html`<tr><td data-label="event"><a href="${call.base}${at}/deliveries/${id}">${eventWord(event)}</a></td><td data-label="alert">${alert_id === "" ? html`<span class="soft">none</span>` : html`<a href="${call.base}/a/${alert_id}">#${alert_id}</a>`}</td><td data-label="status"><div>${statusWord(status)}${last_error !== null && status !== "delivered" && html` <span class="soft">${errorWords(last_error)}</span>`}</div></td><td class="num" data-label="tries">${attempts}</td><td data-label="made">${ago(call, created_at)}</td></tr>
`,
  )}</tbody></table></div>
${all.length === PAGE && html`<p class="soft">The newest ${PAGE}. Filter for others.</p>`}`;
}

function change(call: PageCall): Markup {
  const { project, row } = found(call);
  const kind = call.tenant.channels.find(row.type);
  if (kind === undefined) return html``;
  const action = `${channelAt(call.params)}/change`;
  const stored = getIntegration(call.tenant.store, project, { id: row.id });
  return html`<details id="change-it"${call.returned?.action === action && html` open`}><summary>Change it</summary>
<form class="form" method="post" action="${call.base}${action}">
${channelFields(call, action, { kind, stored })}
${kind.sent !== undefined && html`<p class="soft">If you change the address, type its secrets again.</p>`}
<p class="form-foot"><button class="button">Save</button></p></form></details>`;
}

function end(call: PageCall, title: string): Markup {
  return html`<details id="delete"><summary>Delete it</summary>
<p class="soft">This deletes its secrets and its deliveries and drops messages that wait. It can’t be undone: turning it off keeps them.</p>
${button(call, { action: `${channelAt(call.params)}/delete`, name: `Delete ${title}`, kind: "danger" })}</details>`;
}

/** How many of the newest are looked at. */
const LOOKED = 20;

/** The receiver's last words, credentials masked, as far as the newest deliveries have any; null where there are none. */
function lastAnswer(reader: Reader, channel: { id: string; url: string }): string | null {
  for (const { id, attempts } of listDeliveries(reader, channel.id, { limit: LOOKED })) {
    if (attempts === 0) continue;
    const answer = getDelivery(reader, channel, id).tries.at(-1)?.answer.trim() ?? "";
    return answer === "" ? null : answer;
  }
  return null;
}
