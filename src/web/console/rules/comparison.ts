import { bodyOfRule, type StoredRule } from "../../../core/projects/rule.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { ago } from "../ui/times.ts";
import { bodyOfFields } from "./read-fields.ts";

/** What somebody else saved meanwhile beside what is in the form: only where they differ. */
export function comparison(call: PageCall, saved: StoredRule, fields: URLSearchParams): Markup {
  const mine = bodyOfFields(fields);
  const { updated_at } = saved;
  // Steps of a ladder of the tenant stand there.
  const steps = (saved.ladder ?? null) === null ? saved.escalations : [];
  const theirs = { name: saved.name, ...bodyOfRule(saved), escalations: steps };
  const rows = Object.entries(theirs).flatMap(([name, value]) => {
    const [there, here] = [textOf(value), textOf(mine[name])];
    return there === here ? [] : [{ name, there, here }];
  });
  return html`<div class="notice notice-warn"><h2>Changed meanwhile</h2>
<p>Somebody saved this rule ${ago(call, updated_at)}. Nothing of yours is saved yet. <a href="${call.base}${call.at}">Show theirs</a>, or save again to put yours in its place.</p>
<div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">What</th><th scope="col">Yours</th><th scope="col">Theirs, saved now</th></tr></thead><tbody>${rows.map(
    ({ name, there, here }) =>
      html`<tr><th scope="row">${name.replaceAll("_", " ")}</th><td data-label="Yours"><code>${here}</code></td><td data-label="Theirs"><code>${there}</code></td></tr>`,
  )}</tbody></table></div></div>`;
}

function textOf(value: unknown): string {
  return value === undefined ? "–" : JSON.stringify(value);
}
