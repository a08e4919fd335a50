import { listIntegrations, sharedWith } from "../../../core/projects/integrations.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { serviceName } from "../../../out/services/service-names.ts";
import { listAccounts } from "../../../people/accounts.ts";
import { type ChannelNow, channelsNow } from "../../../tenant/channel-verbs.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { button } from "../ui/form.ts";
import { empty } from "../ui/pieces.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { addChannel, addForms, secretNotice } from "./add.ts";
import { deliveredWords, healthDot, healthWords } from "./words.ts";

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
        tabs: { watches: [], draw: () => projectTabs(call, project.name, "channels") },
        secret: { watches: [], draw: () => secretNotice(call) },
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
                  html`<h2>Of other projects, told of this one too</h2>${rows(call, project.name, await now(call, shared))}`,
              },
            }),
        add: { watches: [], draw: () => addChannel(call, project.name) },
      },
    };
  },
  forms: addForms,
};

const now = (call: PageCall, all: Parameters<typeof channelsNow>[2]) =>
  channelsNow(call.tenant, call.who.accountId, all);

/** A person by id, as others see them. */
export function personNamed({ tenant }: PageCall): (id: string) => string {
  const names = new Map(
    listAccounts(tenant.store).map(({ id, display_name, email }) => [id, display_name || email]),
  );
  return (id) => names.get(id) ?? "somebody who was removed";
}

function rows(call: PageCall, project: string, all: readonly ChannelNow[]): Markup {
  if (all.length === 0)
    return empty(
      `Nobody outside the box hears of alerts in ${project}.`,
      html`<p class="soft">Here are the channels a team shares: a chat room, a ticket system. Each person adds their own phone under Me.</p>`,
    );
  const nameOf = personNamed(call);
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
