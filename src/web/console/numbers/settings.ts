import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { mustBeOwner } from "../../../people/roles.ts";
import { changeSettings, readSettings, settingsChange } from "../../../records/numbers/settings.ts";
import type { Form, PageCall } from "../screen.ts";
import { field, ticked } from "../ui/form.ts";

const AT = "/numbers/settings";

/** Who may see whose figures, and by which clock days are counted: an owner's to say. */
export function settingsSection(call: PageCall): Markup {
  const { numbers_open, numbers_timezone } = readSettings(call.tenant.store);
  if (call.who.role !== "owner") return html``;
  const box = { name: "numbers_open", value: "true", usual: numbers_open };
  return html`<details id="numbers-settings"><summary>Settings</summary><form class="form" method="post" action="${call.base}${AT}">
<label class="check" for="numbers-open"><input type="checkbox" id="numbers-open" name="numbers_open" value="true"${ticked(call, AT, box)}> Everybody sees the figures of everybody</label>
${field(call, AT, { name: "numbers_timezone", label: "Days are counted in", value: numbers_timezone, required: true, hint: "Like Europe/Vienna. A change counts from now on. Messages to channels use it for times, too." })}
<p class="form-foot"><button class="button second">Save the settings</button></p></form></details>`;
}

export const settingsForm: Form = {
  verb: "changeSettings",
  act({ tenant, who }, form) {
    mustBeOwner(who.role);
    const change = check(
      settingsChange,
      {
        numbers_open: form.has("numbers_open"),
        numbers_timezone: (form.get("numbers_timezone") ?? "").trim(),
      },
      "body",
    );
    tenant.store.write((tx) => changeSettings(tx, change));
    return { said: "The settings are saved." };
  },
};
