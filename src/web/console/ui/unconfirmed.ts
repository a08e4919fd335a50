import { type CheckedShift, unconfirmedShifts } from "../../../core/oncall/shift-checks.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { peopleNames } from "./people-names.ts";
import { clockTime } from "./times.ts";

/** Who has a shift and showed none of what was pushed as it began, where it is the reader's to know: theirs before, or a manager's. */
export function unconfirmedLine(call: PageCall): Markup | null {
  const { who, tenant, now, base } = call;
  const all = unconfirmedShifts(tenant.store, now);
  const seen = all.filter(({ beforeId }) => who.role !== "member" || beforeId === who.accountId);
  const [first] = seen;
  if (first === undefined) return null;
  const { accountId, project, schedule } = first;
  const more = seen.length > 1 ? ` (and ${seen.length - 1} more)` : "";
  const name = peopleNames(tenant.store)(accountId);
  return html`<strong>${name} is not confirmed</strong> for ${project} / ${schedule}${more}: ${untold(call, first)}. <a href="${base}/oncall">On call</a>`;
}

const untold = (call: PageCall, { askedAt }: CheckedShift): Markup =>
  html`no device of theirs has shown a push since ${clockTime(call, askedAt)}`;

/** The same beside whoever has this schedule; null where it is confirmed, or wasn't asked for. */
export function unconfirmedHolder(
  call: PageCall,
  of: { project: string; name: string; account: string },
): Markup | null {
  const found = unconfirmedShifts(call.tenant.store, call.now).find(
    ({ project, schedule, accountId }) =>
      project === of.project && schedule === of.name && accountId === of.account,
  );
  return found === undefined
    ? null
    : html` <span class="wrong"><strong>unconfirmed</strong>: ${untold(call, found)}</span>`;
}
