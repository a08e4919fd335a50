import { mustFind } from "../../../core/projects/integrations.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { checkSignature, signatureCheck } from "../../../core/projects/signatures.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type DeliveryDetail, getDelivery } from "../../../out/outbox/delivery-detail.ts";
import { errorWords } from "../../../out/outbox/error-words.ts";
import { whyNotAgain } from "../../../out/outbox/rows.ts";
import { sendAgain } from "../../../tenant/channel-verbs.ts";
import type { PageCall, Screen } from "../screen.ts";
import { area, button, field } from "../ui/form.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { clockTime, until } from "../ui/times.ts";
import { channelAt } from "./form-actions.ts";
import { eventWord, statusWord } from "./words.ts";

function found({ tenant: { store }, params }: PageCall) {
  const project = getProject(store, params["project"] ?? "");
  const row = mustFind(store, project, params["integration"] ?? "");
  return { project, row, delivery: getDelivery(store, row, params["delivery"] ?? "") };
}

const atOf = ({ params }: PageCall) => `${channelAt(params)}/deliveries/${params["delivery"]}`;

/** One delivery: what was sent, each try and what came, and sending it again. */
export const deliveryScreen: Screen = {
  path: "/p/{project}/channels/{integration}/deliveries/{delivery}",
  view(call) {
    const { project, row, delivery } = found(call);
    const watches = [`deliveries:${row.id}`, `project:${project.name}`];
    const title = row.name === "" ? row.type : row.name;
    const { alert_id: alert, event, id } = delivery;
    return {
      title: `${title} · delivery ${id}`,
      heading: html`<a href="${call.base}${channelAt(call.params)}">${title}</a> › delivery ${id} <span class="soft small">${eventWord(event)}${alert !== "" && html` <a href="${call.base}/a/${alert}">#${alert}</a>`}</span>`,
      nav: "projects",
      sections: {
        tabs: () => projectTabs(call, project.name, "channels"),
        head: { watches, draw: () => head(call) },
        tries: { watches, draw: () => tryList(call, found(call).delivery) },
        request: { watches, draw: () => request(found(call).delivery) },
        ...(row.type === "webhook" ? { check: () => signatureForm(call) } : {}),
      },
    };
  },
  forms: {
    resend: {
      verb: "resendDelivery",
      act(call) {
        const { project, row, delivery } = found(call);
        const of = { channel: row.id, delivery: delivery.id };
        const id = call.tenant.store.write((tx) => sendAgain(tx, project, of));
        return {
          said: `Sent again as delivery ${id}, with the same event id and the same bytes.`,
          to: `${channelAt(call.params)}/deliveries/${id}`,
        };
      },
    },
    check: {
      verb: "checkSignature",
      reads: true as const,
      act(call, form) {
        const { row } = found(call);
        const id = (form.get("id") ?? "").trim();
        const text = (name: string) => (form.get(name) ?? "").trim();
        const body = check(
          signatureCheck,
          {
            timestamp: text("timestamp"),
            signature: text("signature"),
            body: (form.get("body") ?? "").replaceAll("\r\n", "\n"),
            ...(id === "" ? {} : { id }),
          },
          "body",
        );
        const { ok, reason } = checkSignature(call.tenant.sealer, row, body);
        return { said: ok ? "It is signed with the stored secret." : `It isn't: ${reason ?? ""}` };
      },
    },
  },
};

function head(call: PageCall): Markup {
  const { row, delivery } = found(call);
  const { status, next_attempt_at: next, last_error } = delivery;
  const isOff = row.enabled === 0;
  const waitsFor =
    isOff && status === "pending"
      ? "; it is tried once the channel is turned on"
      : next !== null && html`; next try in ${until(call, next)}`;
  const why = isOff
    ? "The channel is off: turn it on first."
    : whyNotAgain(call.tenant.store, row.id, delivery.id);
  return html`<p>${statusWord(status)}${last_error !== null && status !== "delivered" && `: ${errorWords(last_error)}`}${waitsFor}</p>
${button(call, {
  action: `${atOf(call)}/resend`,
  name: "Send again",
  kind: "second",
  ...(why === null ? {} : { why }),
})}
<p class="soft small">The same event once more: with its id, so that a receiver that has it can pass it over.</p>`;
}

function tryList(call: PageCall, { tries, attempts }: DeliveryDetail): Markup {
  if (tries.length === 0)
    return html`<h2>Tries</h2><p class="soft">${attempts === 0 ? "None yet." : "Their results are no longer kept."}</p>`;
  const first = attempts - tries.length;
  return html`<h2>Tries</h2><ol class="timeline">${tries.map(
    ({ at, duration_ms, status_code, error, answer, devices }, i) =>
      html`<li>${clockTime(call, at)}<div class="timeline-text"><p>try ${first + i + 1}: ${
        error === null
          ? html`<span class="good">accepted</span>`
          : html`<span class="wrong">${errorWords(error)}</span>`
      }${status_code !== null && html`, status ${status_code}`} in ${duration_ms} ms${devices !== undefined && `, ${devices} phones`}</p>${
        answer.trim() !== "" &&
        html`<p class="soft">It answered: <span class="message">“${answer}”</span></p>`
      }</div></li>
`,
  )}</ol>`;
}

function request({ request: sent, attempts }: DeliveryDetail): Markup {
  if (sent === null)
    return html`<h2>What was sent</h2><p class="soft">${attempts === 0 ? "Nothing yet." : "This channel speaks no HTTP, or it isn't kept."}</p>`;
  const lines = Object.entries(sent.headers).map(([name, value]) => `${name}: ${value}`);
  return html`<h2>What was sent</h2>
<pre class="code wrap">${sent.method} ${sent.url}
${lines.join("\n")}</pre>
<p class="soft small">Where it says [sealed] stands what identifies the box: it is never shown.</p>
${sent.body === null ? html`<p class="soft">Its body is no longer stored.</p>` : html`<div class="snippet"><pre class="code wrap" id="sent-body">${sent.body}</pre><button type="button" class="button second" data-copy="sent-body">Copy</button></div>`}`;
}

function signatureForm(call: PageCall): Markup {
  const action = `${atOf(call)}/check`;
  return html`<details id="check-signature"${call.returned?.action === action && html` open`}><summary>Check a signature</summary>
<p class="soft">For the developer of the receiver: paste what came there. The stored secret stays here.</p>
<form class="form" method="post" action="${call.base}${action}">
${field(call, action, { name: "timestamp", label: "X-Service-Timestamp", required: true, autocomplete: "off" })}
${field(call, action, { name: "signature", label: "X-Service-Signature", required: true, autocomplete: "off", hint: "Or webhook-signature, with its id below." })}
${field(call, action, { name: "id", label: "webhook-id", autocomplete: "off" })}
${area(call, action, { name: "body", label: "The body as it arrived, byte for byte", rows: 4 })}
<p class="form-foot"><button class="button second">Check</button></p></form></details>`;
}
