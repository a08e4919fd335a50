import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import type { Advice, AdviceKind } from "../../../records/advice/shape.ts";
import { hideOf } from "../../../tenant/advice.ts";
import { type Form, type PageCall, pathOf } from "../screen.ts";
import { button } from "../ui/form.ts";
import { counted } from "../ui/pieces.ts";
import { newRulePage } from "../ui/way.ts";

const NAMES: Readonly<Record<AdviceKind, string>> = {
  one_cause: "Two alerts of one cause",
  many_of_one: "Many alerts of one trouble",
  flaps: "It flaps",
  ends_by_itself: "It ends by itself",
  nobody_acts: "Nobody acts on it",
  never_answered: "A rung that nobody answers",
  unheard: "No rule takes it",
  vanished: "It no longer comes",
  unproved: "Not proved for long",
};

/** What could be changed, each with its figures and the dry run's word. */
export async function adviceSection(call: PageCall): Promise<Markup> {
  const { advice } = await call.tenant.advice.now();
  const heading = html`<h2 id="what-to-change">What to change</h2>`;
  if (advice.length === 0)
    return html`${heading}<p class="soft">Nothing: the past 28 days suggest no change.</p>`;
  return html`${heading}<div class="cards">${advice.map((one) => card(call, one))}</div>`;
}

function card(call: PageCall, one: Advice): Markup {
  const { id, kind, project, rule, text, would } = one;
  const place = [project, rule].filter((part) => part !== null).join(" / ");
  return html`<section class="card" aria-label="${NAMES[kind]}: ${place}"><p class="small soft">${NAMES[kind]}${place !== "" && html` · ${place}`}</p>
<p>${text}</p>${would !== null && html`<p class="small">Over ${counted(would.days, "day")} of kept lines it would have opened <b>${counted(would.alert_count, "alert")}</b>${rule !== null && html` and paged <b>${would.page_count}</b> times`}${before(one)}.</p>`}
<div class="buttons">${apply(call, one)}${
    isManager(call.who.role) &&
    button(call, {
      action: "/numbers/hide",
      name: "Not this",
      kind: "plain",
      label: `Not this: ${NAMES[kind]} ${place}`,
      fields: { id },
    })
  }</div></section>
`;
}

const before = ({ figures: { alerts, pages } }: Advice): Piece =>
  alerts !== undefined && html`; it opened ${alerts} and paged ${pages ?? 0} times`;

/** Nothing is changed by it: it opens the form, filled in. */
function apply(call: PageCall, { id, kind, project, rule, account_id, change }: Advice): Piece {
  const to = (path: string, name: string) =>
    html`<a class="button second" href="${call.base}${path}">${name}</a>`;
  if (account_id !== null) return to(pathOf("people", account_id), "Open");
  if (project === null) return false;
  if (rule === null)
    return to(
      `${newRulePage(project)}?${kind === "vanished" ? "missing" : "template"}=${id.slice(id.lastIndexOf("-") + 1)}`,
      "Make a rule …",
    );
  const at = pathOf("p", project, "rules", rule);
  if (change === null) return to(`${at}/ladder`, "Its ladder");
  return to(
    `${at}?advice=${encodeURIComponent(id)}`,
    kind === "nobody_acts" ? "Look at it …" : "Apply …",
  );
}

export const hideForm: Form = {
  verb: "hideAdvice",
  act: async ({ tenant, who }, form) => {
    mustManage(who.role);
    await hideOf(tenant, form.get("id") ?? "");
    return { said: "Hidden for 90 days." };
  },
};
