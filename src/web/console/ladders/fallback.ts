import { setFallback } from "../../../core/alerts/fallback.ts";
import { onCallNow } from "../../../core/oncall/duty.ts";
import { listAllSchedules } from "../../../core/oncall/schedules.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { fallbackBody } from "../../../out/contacts/contact.ts";
import { readFallback } from "../../../out/contacts/notify.ts";
import { listAccounts } from "../../../people/accounts.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import type { Form, PageCall } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { ticked } from "../ui/form.ts";
import { peopleNames } from "../ui/people-names.ts";

const ACTION = "/ladders/fallback";

/** Sets who is paged when a whole ladder reaches nobody. */
export const fallbackForm: Form = {
  verb: "putFallback",
  target: "fallback:fallback",
  act({ tenant, who }, form) {
    mustManage(who.role);
    const asked = { accounts: form.getAll("account"), schedules: form.getAll("schedule") };
    const { accounts, schedules } = check(fallbackBody, asked, "body");
    tenant.store.write((tx) => setFallback(tx, { accounts, schedules }));
    const isUsual = accounts.length + schedules.length === 0;
    return {
      said: isUsual ? "Every owner is the fallback again." : "The fallback is set.",
      to: "/ladders#fallback",
    };
  },
};

/** Who they are now, and for managers the form that sets them. */
export function fallbackSection(call: PageCall): Markup {
  const { store } = call.tenant;
  const { accounts, schedules } = readFallback(store);
  const name = peopleNames(store);
  const named = [...accounts.map((id) => name(id)), ...schedules.map((one) => `on call: ${one}`)];
  const now = named.length === 0 ? "every owner" : named.join(", ");
  return html`<h2>If a whole ladder reaches nobody</h2><p>Paged then, once: <strong>${now}</strong>.</p>${
    isManager(call.who.role) && html`${setForm(call)}${changesLink(call, "fallback", "fallback")}`
  }`;
}

function setForm(call: PageCall): Markup {
  const { store } = call.tenant;
  const fallback = readFallback(store);
  const name = peopleNames(store);
  const box = (kind: "account" | "schedule", value: string, words: string) => {
    const usual = fallback[`${kind}s`].includes(value);
    return html`<label class="check"><input type="checkbox" name="${kind}" value="${value}"${ticked(call, ACTION, { name: kind, value, usual })}> ${words}</label>`;
  };
  const onCall = (project: string, schedule: string) => {
    const home = { projectId: getProject(store, project).id, name: schedule };
    const now = onCallNow(store, home, call.now).map((id) => name(id));
    return `on call: ${project}/${schedule} (now ${now.join(", ") || "nobody"})`;
  };
  const isBack = call.returned?.action === ACTION;
  return html`<details id="set-fallback"${isBack && html` open`}><summary>Change the fallback</summary><form class="form" method="post" action="${call.base}${ACTION}">
${listAccounts(store).map(({ id }) => box("account", id, name(id)))}
${listAllSchedules(store).map((one) => box("schedule", `${one.project}/${one.name}`, onCall(one.project, one.name)))}
<p class="soft">None ticked: every owner.</p>
<p class="form-foot"><button class="button second">Save the fallback</button></p></form></details>`;
}
