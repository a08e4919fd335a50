import { createIntegration, draftIntegration } from "../../../core/projects/integrations.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Channel } from "../../../out/services/channel.ts";
import { serviceName } from "../../../out/services/service-names.ts";
import { guardOf } from "../../../tenant/channel-verbs.ts";
import { type Form, type PageCall, pathOf } from "../screen.ts";
import { keyed } from "../ui/form.ts";
import { channelFields, channelWrite } from "./fields.ts";

/** Kinds that a person makes here: phones come by themselves. */
const offered = ({ tenant }: PageCall): readonly Channel[] =>
  tenant.channels.kinds.filter(({ pushes }) => pushes !== true);

/** A kind to choose, then its form with only its fields. */
export function addChannel(call: PageCall, project: string): Markup {
  const at = pathOf("p", project, "channels");
  const wanted = call.returned?.form.get("type") ?? call.query.get("type");
  const kind = offered(call).find((one) => one.kind === wanted);
  if (kind === undefined)
    return html`<h2>Add a channel</h2><ul class="cards bare">${offered(call).map(
      (one, i) =>
        html`<li class="card whole"><a href="${call.base}${at}?type=${one.kind}"${i === 0 && keyed("n", "Add a channel")}>${serviceName(one.kind)}</a><p class="soft small">${one.about}</p></li>
`,
    )}</ul>`;
  return html`<h2>Add ${serviceName(kind.kind)}</h2><p class="soft">${kind.about.charAt(0).toUpperCase()}${kind.about.slice(1)}.</p>
<form class="form" method="post" action="${call.base}${at}">
<input type="hidden" name="type" value="${kind.kind}">
${channelFields(call, at, { kind, stored: null })}
<p class="form-foot"><button class="button" name="try" value="first" data-busy="Sending a test …">Test, then add</button><button class="button second">Add untested</button><a href="${call.base}${at}">Another kind</a></p></form>
<p class="soft">The test sends one message to the address you typed. If it fails, nothing is stored, and you type the secrets again.</p>`;
}

/** A webhook's secret that was minted: this once. */
export function secretNotice({ shown }: PageCall): Markup {
  const { secret } = shown;
  if (secret === undefined) return html``;
  return html`<div class="notice notice-warn"><h2>What its requests are signed with</h2><p>Shown only now: give it to the receiver.</p>
<div class="snippet"><pre class="code" id="secret-text">${secret}</pre><button type="button" class="button second" data-copy="secret-text">Copy</button></div></div>`;
}

export const addForms: Readonly<Record<string, Form>> = {
  "": {
    verb: "createIntegration",
    async act(call, form) {
      const { tenant, params, who } = call;
      const type = check(tenant.channels.type, form.get("type") ?? "", "body");
      const wanted = { type, write: channelWrite(call, form), guard: guardOf(tenant) };
      const { project = "" } = params;
      if (form.has("try")) {
        const draft = draftIntegration(tenant.store, getProject(tenant.store, project), wanted);
        mustArrive(await tenant.outbox.testFire.trial(draft, who.accountId));
      }
      const made = tenant.store.write((tx) =>
        createIntegration(tx, getProject(tx, project), wanted),
      );
      return {
        said: form.has("try")
          ? "It got through, and the channel is added."
          : "Added: nothing was sent to it yet.",
        ...(made.isMinted && made.secret !== null
          ? { shown: { secret: made.secret } }
          : { to: pathOf("p", project, "channels") }),
      };
    },
  },
};

interface Tried {
  ok: boolean;
  error: string | null;
  duration_ms: number;
  answer: string;
}

/** Throws 422 with what came. */
function mustArrive({ ok, error, duration_ms, answer }: Tried): void {
  if (ok) return;
  const said = answer.trim() === "" ? "" : ` It answered “${answer.trim()}”.`;
  const message = `Nothing is stored: the test didn't get through in ${duration_ms} ms: ${error ?? "no reason was given"}.${said}`;
  throw new ServiceError("gateway_refused", message);
}
