import {
  createIntegration,
  draftIntegration,
  listIntegrations,
  sharedWith,
} from "../../../core/projects/integrations.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Channel } from "../../../out/services/channel.ts";
import { serviceName } from "../../../out/services/service-names.ts";
import { type ChannelNow, channelsNow } from "../../../tenant/channel-verbs.ts";
import { type Form, type PageCall, pathOf, type Screen } from "../screen.ts";
import { button, keyed } from "../ui/form.ts";
import { peopleNames } from "../ui/people-names.ts";
import { empty } from "../ui/pieces.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { channelFields, channelWrite } from "./fields.ts";
import { deliveredWords, healthDot, healthWords } from "./words.ts";

/** Kinds that a person makes here: phones come by themselves. */
const offered = ({ tenant }: PageCall): readonly Channel[] =>
  tenant.channels.kinds.filter(({ pushes }) => pushes !== true);

/** A kind to choose, then its form with only its fields. */
function addChannel(call: PageCall, project: string): Markup {
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
function secretNotice({ shown }: PageCall): Markup {
  const { secret } = shown;
  if (secret === undefined) return html``;
  return html`<div class="notice notice-warn"><h2>What its requests are signed with</h2><p>Shown only now: give it to the receiver.</p>
<div class="snippet"><pre class="code" id="secret-text">${secret}</pre><button type="button" class="button second" data-copy="secret-text">Copy</button></div></div>`;
}

const addForms: Readonly<Record<string, Form>> = {
  "": {
    verb: "createIntegration",
    async act(call, form) {
      const { tenant, params, who } = call;
      const type = check(tenant.channels.type, form.get("type") ?? "", "body");
      const wanted = { type, write: channelWrite(call, form), guard: tenant };
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

/** The project's shared channels: whether each works, and why not. */
export const channelsScreen: Screen = {
  path: "/p/{project}/channels",
  view(call) {
    const { store } = call.tenant;
    const project = getProject(store, call.params["project"] ?? "");
    const own = listIntegrations(store, project);
    const watches = [`channels:${project.name}`, `project:${project.name}`];
    const shared = sharedWith(store, project);
    return {
      title: `${project.name} · Channels`,
      heading: html`${project.name}`,
      nav: "projects",
      sections: {
        tabs: () => projectTabs(call, project.name, "channels"),
        secret: () => secretNotice(call),
        list: {
          watches: [...watches, ...own.map(({ id }) => `deliveries:${id}`)],
          draw: async () => rows(call, project.name, await now(call, own)),
        },
        ...(shared.length === 0
          ? {}
          : {
              shared: {
                watches: ["channels:*", ...shared.map(({ id }) => `deliveries:${id}`)],
                draw: async () =>
                  html`<h2>Of other projects, for alerts of this one too</h2>${rows(call, project.name, await now(call, shared))}`,
              },
            }),
        add: () => addChannel(call, project.name),
      },
    };
  },
  forms: addForms,
};

const now = (call: PageCall, all: Parameters<typeof channelsNow>[2]) =>
  channelsNow(call.tenant, call.who.accountId, all);

function rows(call: PageCall, project: string, all: readonly ChannelNow[]): Markup {
  if (all.length === 0)
    return empty(
      `No channel gets the alerts of ${project}.`,
      html`<p class="soft">Here are the channels a team shares: a chat room, a ticket system. Each person adds their own phone under Me.</p>`,
    );
  const nameOf = peopleNames(call.tenant.store);
  return html`<ul class="who">${all.map((one) => row(call, one, nameOf))}</ul>`;
}

function row(call: PageCall, one: ChannelNow, nameOf: (id: string) => string): Markup {
  const { id, project, name, type, url, health } = one;
  const at = pathOf("p", project, "channels", id);
  const title = name === "" ? serviceName(type) : name;
  const isOff = health.state === "off";
  return html`<li class="who-item" id="channel-${id}"><div class="who-text"><p>${healthDot(health)} <a href="${call.base}${at}">${title}</a> <span class="soft">${serviceName(type)}${url !== "" && ` · ${url}`}</span></p>
<p class="small">${healthWords(call, health, nameOf)}${deliveredWords(call, id)}</p></div>
<div class="buttons">${
    isOff
      ? button(call, {
          action: `${at}/enable`,
          name: "Turn on",
          kind: "second",
          label: `Turn on ${title}`,
        })
      : button(call, { action: `${at}/test`, name: "Test", kind: "second", label: `Test ${title}` })
  }</div></li>
`;
}
