import { type AuditEntry, auditLines, auditVerbs, listAudit } from "../../../ground/audit/list.ts";
import { auditKinds } from "../../../ground/audit/things.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import type { PageCall, Screen } from "../screen.ts";
import {
  type AskedAudit,
  askedAudit,
  auditAddress,
  filterOfAudit,
  NOBODY,
} from "../ui/audit-address.ts";
import { type Choice, optionsOf } from "../ui/form.ts";
import { everybody, managers } from "../ui/people-names.ts";
import { empty } from "../ui/pieces.ts";
import { auditItem, auditNames, doneWords } from "./entry.ts";

const EACH_PAGE = 100;
const WATCHED = ["people", "projects", "project:*", "oncall", "system"];
const EXPORT = "audit.ndjson";

/** Who changed what: for those who manage. */
export const auditScreen: Screen = {
  path: "/audit",
  view(call) {
    const asked = askedAudit(call);
    const frame = { title: "Audit", nav: "system" } as const;
    if (!isManager(call.who.role))
      return {
        ...frame,
        sections: {
          whom: () =>
            html`<p class="soft">Owners and admins read who changed what. Ask ${managers(call)}.</p>`,
        },
      };
    return {
      ...frame,
      sections: {
        filter: () => filterForm(call, asked),
        entries: {
          watches: asked.before === "" ? WATCHED : [],
          draw: () => entryList(call, asked),
        },
      },
    };
  },
  files: {
    [EXPORT](call) {
      mustManage(call.who.role);
      return {
        name: EXPORT,
        type: "application/x-ndjson",
        body: auditLines(call.tenant.store, filterOfAudit(askedAudit(call), call.look.zone)),
      };
    },
  },
};

function filterForm(call: PageCall, asked: AskedAudit): Markup {
  const { store } = call.tenant;
  const people = everybody(store).map(({ id, name }) => ({ value: id, name }));
  const verbs = auditVerbs(store).map((verb) => ({ value: verb, name: doneWords(verb) }));
  const kinds = auditKinds.map((kind) => ({ value: kind, name: kind.replaceAll("_", " ") }));
  return html`<form class="filters" method="get" action="${call.base}/audit">
${choice("person", "Who", "anybody", [...people, { value: NOBODY, name: "nobody with an account" }], asked.person)}
${choice("verb", "What was done", "anything", verbs, asked.verb)}
${choice("kind", "To what", "to anything", kinds, asked.kind)}
<input id="f-thing" name="thing" size="12" aria-label="Its name or id" placeholder="its name or id" value="${asked.thing}" autocomplete="off">
<input id="f-day" name="day" type="date" aria-label="On the day" value="${asked.day}">
<button class="button second">Filter</button>${
    Object.values(asked).some((value) => value !== "") &&
    html`<a href="${call.base}/audit">Clear</a>`
  }</form>
<p class="soft small">Kept for 400 days. <a href="${call.base}${auditAddress({ ...asked, before: "" }, `/audit/${EXPORT}`)}" download>Export these as NDJSON</a></p>`;
}

function choice(
  name: string,
  label: string,
  any: string,
  options: readonly Choice[],
  chosen: string,
): Markup {
  return html`<select id="f-${name}" name="${name}" aria-label="${label}">${optionsOf([{ value: "", name: any }, ...options], chosen)}</select>`;
}

function entryList(call: PageCall, asked: AskedAudit): Markup {
  const { store } = call.tenant;
  const { entries, next } = listAudit(store, {
    ...filterOfAudit(asked, call.look.zone),
    limit: EACH_PAGE,
  });
  const older =
    next !== null &&
    html`<nav class="pages" aria-label="Pages"><a class="button second" href="${call.base}${auditAddress({ ...asked, before: next })}">Older</a></nav>`;
  if (entries.length === 0)
    return html`${empty(
      next === null ? "None match the filter." : "None among these.",
      html`<p><a class="button second" href="${call.base}/audit">Clear</a></p>`,
    )}${older}`;
  const names = auditNames(store, entries);
  return html`<ol class="timeline">${entries.map((entry: AuditEntry) => auditItem(call, entry, names))}</ol>${older}`;
}
