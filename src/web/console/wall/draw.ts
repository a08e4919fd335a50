import { type AlertRow, getAlertRow } from "../../../core/alerts/alert.ts";
import { type Apart, apartOf } from "../../../core/alerts/apart.ts";
import { countAlerts } from "../../../core/alerts/counts.ts";
import { groupAlerts } from "../../../core/alerts/groups.ts";
import { currentOnCall } from "../../../core/oncall/answers.ts";
import { listAllSchedules } from "../../../core/oncall/schedules.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Health } from "../../../tenant/health.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import { levelBadge } from "../ui/level.ts";
import { aboutText, markedTitle } from "../ui/message.ts";
import { peopleNames } from "../ui/people-names.ts";
import { stretchWords } from "../ui/schedule.ts";
import { span } from "../ui/times.ts";

/** So many fit on a screen, large; what is more is counted. */
const MOST_ROWS = 6;
const MOST_SEATS = 8;
/** Of so few each has room for all that it says. */
const FEW = 3;

export interface WallView {
  tenant: Tenant;
  /** Unix seconds. */
  now: number;
  health: Health;
  /** Whether messages and identifiers are shown. */
  messages: boolean;
}

/** Open alerts, the worst first, and who is on call: nothing else, and nothing that can be pressed. */
export async function drawWall(view: WallView): Promise<Markup> {
  return html`${view.health.status === "failed" && html`<p class="down">The box is not able to page.</p>`}<section aria-labelledby="open">${await openAlerts(view)}</section>
<section aria-labelledby="on-call">${await onCall(view)}</section>`;
}

async function openAlerts(view: WallView): Promise<Markup> {
  const { store } = view.tenant;
  const { open, acknowledged } = countAlerts(store, { accountId: "" });
  const asked = { states: ["open"], limit: MOST_ROWS, isGroup: () => false } as const;
  const { groups } = await groupAlerts(store, asked);
  const rows = groups.flatMap(({ alerts }) => alerts.map(({ id }) => getAlertRow(store, id)));
  const shown = open > MOST_ROWS ? rows.slice(0, MOST_ROWS - 1) : rows;
  const more = open - shown.length;
  const apart = apartOf(store, shown);
  const head = html`<h1 id="open">${open} open${acknowledged > 0 && ` · ${acknowledged} taken`}</h1>`;
  if (shown.length === 0) return html`${head}<p class="what">Nothing is open.</p>`;
  return html`${head}<ol${shown.length <= FEW && html` class="few"`}>${shown.map((row) => wallRow(view, row, apart.get(row.id)))}</ol>${
    more > 0 && html`<p class="about">and ${more} more</p>`
  }`;
}

function wallRow(
  { now, messages }: Pick<WallView, "now" | "messages">,
  row: AlertRow,
  apart: Apart | undefined,
): Markup {
  const { level, project, rule, opened_at, silenced_by } = row;
  const names = aboutText(row, apart);
  const where = `${project} · ${rule}`;
  // To the minute, so that a screen isn't sent the same again and again.
  const age = `${now - opened_at < 60 ? "just now" : span(now - opened_at)}${silenced_by !== null ? " · quiet" : ""}`;
  return html`<li><p class="what" dir="auto">${messages ? markedTitle(row) : where}</p><p class="about">${levelBadge(level)} · ${messages && `${where} · `}${messages && names !== "" && `${names} · `}${age}</p></li>
`;
}

async function onCall({ tenant, now }: WallView): Promise<Markup> {
  const { store, slices } = tenant;
  const all = listAllSchedules(store);
  const names = peopleNames(store);
  const seats: Markup[] = [];
  for (const stored of all.slice(0, MOST_SEATS)) {
    const current = await currentOnCall({ reader: store, slices }, stored, now);
    const end = current.on_call ? current.ends_at : null;
    const until =
      end === null
        ? ""
        : ` · until ${stretchWords({ starts_at: end, ends_at: end }, stored.timezone).split(" – ")[0]} ${stored.timezone}`;
    const who = current.on_call
      ? html`<p class="what" dir="auto">${current.accounts.map((one) => names(one.account_id)).join(", ")}</p>`
      : current.off
        ? html`<p class="what">Nobody, outside of its hours</p>`
        : html`<p class="what none">Nobody</p>`;
    seats.push(
      html`<li>${who}<p class="about">${stored.project} / ${stored.name}${until}</p></li>
`,
    );
  }
  const more = all.length - seats.length;
  return html`<h2 id="on-call">On call</h2>${seats.length === 0 ? html`<p class="about">No schedule.</p>` : html`<ul>${seats}</ul>`}${
    more > 0 && html`<p class="about">and ${more} more schedules</p>`
  }`;
}
