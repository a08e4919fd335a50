import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { button, field, fieldId, typed, wrongOf } from "../ui/form.ts";
import { counted } from "../ui/pieces.ts";
import { readersAddress } from "./list.ts";
import type { ShownReport } from "./shown-report.ts";

/** Where readers find it, who may read it, and what ends that; each says what dies with it. */
export function manageSection(call: PageCall, shown: ShownReport): Markup {
  const { row, path, entries } = shown;
  const address = readersAddress(call, row.publicUuid);
  const gated = row.passwordHash !== null;
  const isOpen = (action: string) => call.returned?.action === action && html` open`;
  const [rename, password] = [`${path}/change`, `${path}/password`];
  return html`<h2>Its page</h2>
<p>Public at <a href="${address}" id="address" class="mono">${address}</a>${
    gated
      ? html`: <strong>protected</strong>, readers need its password.`
      : html`: whoever has the address reads it.`
  }</p>
<p class="buttons"><button type="button" class="button second" data-copy="address">Copy the address</button>${
    gated
      ? html`<span class="soft">No feed: feed readers can't enter a password.</span>`
      : html`<a class="button second" href="${address}/feed.xml">Feed</a>`
  }<a class="button second" href="${call.base}${path}/export.md">Export .md</a></p>
<details id="change"${isOpen(rename)}><summary>Title, and what is known</summary>${titleForm(call, shown, rename)}</details>
<details id="password"${isOpen(password)}><summary>Password</summary>${passwordForm(call, password, gated)}</details>
<details id="new-address"><summary>New address</summary><p>The page gets another address. Links to the old one, its feed${gated && ", and whoever has entered the password"} reach nothing any more, at once; you tell the new one to those who should have it.</p>${button(call, { action: `${path}/address`, name: "Give it a new address", kind: "danger" })}</details>
<details id="delete"><summary>Delete</summary><p>With it go its page, its feed and ${counted(entries.length, "entry", "entries")}. Readers find nothing there; it can't be undone: export it first.</p>${button(call, { action: `${path}/delete`, name: "Delete the report", kind: "danger" })}</details>`;
}

function titleForm(call: PageCall, { row }: ShownReport, action: string): Markup {
  const id = fieldId(action, "description");
  const wrong = wrongOf(call, action, "description");
  return html`<form class="form" method="post" action="${call.base}${action}">
${field(call, action, { name: "title", label: "Title", value: row.title, autocomplete: "off" })}
<div class="field"><label for="${id}">What is known</label><textarea id="${id}" name="description" rows="4"${wrong !== null && html` aria-invalid="true"`}>
${typed(call, action, "description", row.description)}</textarea>${wrong !== null && html`<p class="wrong">${wrong}</p>`}</div>
<p class="form-foot"><button class="button second">Save, public at once</button></p></form>`;
}

function passwordForm(call: PageCall, action: string, gated: boolean): Markup {
  const words = gated
    ? "With another password, or none, readers who have entered this one are asked again, or never more."
    : "With one, readers see a form, and nothing of the report, until they enter it; the feed ends.";
  return html`<p>${words}</p><form class="form" method="post" action="${call.base}${action}"><input type="text" autocomplete="username" value="report" hidden>
${field(call, action, { name: "view_password", label: gated ? "New password" : "Password", type: "password", required: true, autocomplete: "new-password" })}
<p class="form-foot"><button class="button second">${gated ? "Change it" : "Protect the report"}</button>${
    gated &&
    html`<button class="button danger" name="remove" value="yes" formnovalidate>Remove it: whoever has the address reads</button>`
  }</p></form>`;
}
