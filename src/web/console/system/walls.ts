import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { mustManage } from "../../../people/roles.ts";
import { type WallAnswer, wallWrite } from "../../../people/wall.ts";
import { listWalls, makeWall, revokeWall } from "../../../people/walls.ts";
import { WALL } from "../../http/resources/walls.ts";
import type { Form, PageCall } from "../screen.ts";
import { button, field, tick } from "../ui/form.ts";
import { type PeopleNames, peopleNames } from "../ui/people-names.ts";
import { ago } from "../ui/times.ts";

const MAKE = "/system/walls";

/** Screens in corridors: the links that they show the wall by. */
export function wallsSection(call: PageCall): Markup {
  const all = listWalls(call.tenant.store);
  const { wall: link } = call.shown;
  const names = peopleNames(call.tenant.store);
  return html`<h2>Wall</h2>
<p>Open alerts and who is on call, in large letters, for a screen on the wall. When signed in, you see it at <a href="${call.base}${WALL}">${WALL}</a>; a screen shows it by a link of its own.</p>
${link !== undefined && html`<div class="notice notice-good"><p>Open this on the screen, and keep it like a password: it is shown this once, and whoever has it sees the wall.</p><pre class="code" id="wall-link">${link}</pre><button type="button" class="button second" data-copy="wall-link">Copy</button></div>`}
${all.length > 0 && html`<div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">Screen</th><th scope="col">Shows</th><th scope="col">Made</th><th scope="col">Last seen</th><th scope="col"><span class="hidden-text">Revoke</span></th></tr></thead><tbody>${all.map((wall) => wallRow(call, wall, names))}</tbody></table></div>`}
<details id="add-wall"${call.returned?.action === MAKE && html` open`}><summary>A link for a screen</summary>
<form class="form" method="post" action="${call.base}${MAKE}">
${field(call, MAKE, { name: "name", label: "Which screen", required: true, autocomplete: "off", hint: "“Corridor, 2nd floor”." })}
${tick(call, MAKE, { name: "without", value: "messages", words: "Without messages and identifiers: projects and rules alone" })}
<p class="form-foot"><button class="button second">Make a link</button></p></form></details>`;
}

function wallRow(call: PageCall, wall: WallAnswer, names: PeopleNames) {
  const { id, name, messages, created_at, created_by, last_seen_at } = wall;
  const maker = created_by === null ? "somebody who was removed" : names(created_by);
  return html`<tr><td data-label="Screen">${name}</td><td data-label="Shows">${messages ? "messages" : "no messages"}</td>
<td data-label="Made">${ago(call, created_at)} by ${maker}</td><td data-label="Last seen">${last_seen_at === null ? "never" : ago(call, last_seen_at)}</td>
<td>${button(call, { action: `${MAKE}/${id}/revoke`, name: "Revoke", kind: "plain", label: `Revoke: ${name}` })}</td></tr>
`;
}

export const wallForms: Readonly<Record<string, Form>> = {
  walls: {
    verb: "makeWall",
    act({ tenant, who, origin }, form) {
      mustManage(who.role);
      const wish = { name: (form.get("name") ?? "").trim(), messages: !form.has("without") };
      const write = check(wallWrite, wish, "body");
      const { secret } = tenant.store.write((tx) => makeWall(tx, who.accountId, write));
      return {
        said: `A link for ${write.name}. It is shown only once.`,
        shown: { wall: `${tenant.publicUrl || origin}${WALL}/${secret}` },
      };
    },
  },
  "walls/{wall}/revoke": {
    verb: "revokeWall",
    act({ tenant, who, params }) {
      mustManage(who.role);
      tenant.store.write((tx) => revokeWall(tx, params["wall"] ?? ""));
      return { said: "Revoked: its screen says so within seconds." };
    },
  },
};
