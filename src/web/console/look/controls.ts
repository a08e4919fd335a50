import { invalid } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { barLine } from "../bar.ts";
import { flashLine, refusedLine } from "../flash.ts";
import type { PageCall } from "../screen.ts";
import { findingRow } from "../ui/finding.ts";
import { button, field, select } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { empty, tabs } from "../ui/pieces.ts";

const NOWHERE = "/system/look";

export function buttons(call: PageCall): Markup {
  const of = { action: NOWHERE };
  return html`<h2>Buttons</h2><div class="buttons">${button(call, { ...of, name: "Acknowledge" })}${button(call, { ...of, name: "Show", kind: "second" })}${button(call, { ...of, name: "Remove", kind: "danger" })}${button(call, { ...of, name: "Undo", kind: "plain" })}<button class="icon-button" type="button" aria-label="More">${icon("more")}</button></div>
<div class="buttons">${button(call, { ...of, name: "Escalate now", kind: "second", why: "Every rung of the ladder has run: assign somebody." })}</div>
<div class="buttons"><span class="taken taken-own">${icon("check", "small")}<span>Taken</span></span></div>`;
}

/** A form that came back: one field is wrong, another has to be typed again. */
export function forms(call: PageCall): Markup {
  const form = new URLSearchParams({ address: "not an address", secret: "typed" });
  const error = invalid([{ field: "/address", reason: "must be an address" }]);
  const back = { returned: { action: NOWHERE, form, error } };
  const choices = ["Warning", "Error", "Critical"].map((name) => ({ value: name, name }));
  const usual = { name: "name", label: "Name", value: "nightly backup" };
  return html`<h2>Forms</h2><form class="form" method="get" action="${call.base}${NOWHERE}">${field(back, "", { ...usual, hint: "What people call it." })}${field(back, NOWHERE, { name: "address", label: "Address", autocomplete: "username" })}${field(back, NOWHERE, { name: "secret", label: "Password", type: "password", autocomplete: "new-password" })}${select(back, "", { name: "level", label: "From level", choices })}<label class="check"><input type="checkbox" name="critical" checked> Critical ones too</label><fieldset><legend>For how long</legend>${["1 hour", "2 hours", "1 day"].map((words, at) => html`<label class="check"><input type="radio" name="hours" value="${at}"${at === 0 && " checked"}> ${words}</label>`)}</fieldset><details id="look-more"><summary>More</summary><p class="soft">What few need.</p></details></form>`;
}

export function notes(call: PageCall): Markup {
  const { base } = call;
  const tab = (name: string, count: number | null, here = false) => ({
    name,
    href: `${base}${NOWHERE}`,
    here,
    count,
  });
  const finding = (state: "failed" | "wrong" | "note" | "ok", words: string) =>
    findingRow({ id: `look-${state}`, check: "backups", state, words: html`${words}`, mend: null });
  return html`<h2>What is said</h2>${tabs("Sample", [tab("Lines", null, true), tab("Kinds", 29)])}
<p class="notice">A note: what happened, what stayed, what to do.</p><p class="notice notice-good"><span class="good">✓ app is heard</span>, 03:05.</p><p class="notice notice-warn">Quiet until 18:00: disk swap.</p><p class="notice notice-wrong">Nothing reaches Lucía. She is the last rung. <a href="${base}${NOWHERE}">Mend it</a></p>
<ul class="who">${finding("failed", "The disk is full.")}${finding("wrong", "The last backup is 9 days old.")}${finding("note", "One sender was never heard.")}${finding("ok", "Made 2 h ago, and proved.")}</ul>
${barLine("alert", html`<strong>The box can’t page.</strong> The disk is full. <a href="${base}${NOWHERE}">Mend it</a>`, "look-alert")}${barLine("status", html`<strong>Pixel 8 isn’t rung any more</strong>: its push service says that it is gone.`, "look-status")}
<div class="look-toast">${flashLine({ said: "Acknowledged #130.", undo: { action: NOWHERE } }, base, "look-said")}</div><div class="look-toast">${refusedLine({ message: "Somebody else has it since 03:06." }, "look-refused")}</div>`;
}

export const nothing = ({ base }: PageCall): Markup =>
  html`<h2>Nothing there</h2>${empty("Nothing is open.", html`<p class="soft">The last one was resolved 2 h ago.</p><p><a class="button second" href="${base}${NOWHERE}">Try tonight, 03:00</a></p>`)}`;
