import { type AlertRow, getAlertRow } from "../../../core/alerts/alert.ts";
import { type Apart, apartOf } from "../../../core/alerts/apart.ts";
import { countAlerts } from "../../../core/alerts/counts.ts";
import { groupAlerts } from "../../../core/alerts/groups.ts";
import { lookAhead } from "../../../core/alerts/rungs-ahead.ts";
import { currentOnCall } from "../../../core/oncall/answers.ts";
import type { StoredSchedule } from "../../../core/oncall/schedule.ts";
import { listAllSchedules } from "../../../core/oncall/schedules.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { mark as drawnMark } from "../../../ground/page/drawings.ts";
import type { Health } from "../../../tenant/health.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import { lookOf } from "../display.ts";
import { lastOfAll, type NowAbout, nowWords } from "../ui/alert-now.ts";
import { chip, type Faces, facesOf, squareChip } from "../ui/faces.ts";
import { levelBadge } from "../ui/level.ts";
import { aboutText, markedTitle } from "../ui/message.ts";
import { naming } from "../ui/people-names.ts";
import { clockTime, hourOf, span } from "../ui/times.ts";

/** So many fit on a screen, large; what is more is counted. */
const MOST_ROWS = 6;
const MOST_SEATS = 8;
/** Of so few each has room for all that it says. */
const FEW = 3;

/** A screen without a script shows the machine's clock; its script puts the screen's own in its place. */
const LOOK = lookOf({});

/** "03:09 UTC". */
export const wallClock = (now: number): Markup =>
  html`${hourOf(now, LOOK.zone)} <span>${LOOK.zone}</span>`;

interface WallView {
  tenant: Tenant;
  /** Unix seconds. */
  now: number;
  health: Health;
  /** Whether messages and identifiers are shown. */
  messages: boolean;
}

/** Nobody in particular looks: no "you". */
const NOBODY = { accountId: "" };

/** Open alerts, the worst first, and who is on call: nothing else, and nothing that can be pressed. */
export async function drawWall(view: WallView): Promise<Markup> {
  const faces = await facesOf(view);
  return html`${view.health.status === "failed" && html`<p class="down">The box is not able to page.</p>`}<section aria-labelledby="open">${await openAlerts(view, faces)}</section>
<section aria-labelledby="on-call">${await onCall(view, faces)}</section>`;
}

async function openAlerts(view: WallView, faces: Faces): Promise<Markup> {
  const { store } = view.tenant;
  const { open, acknowledged } = countAlerts(store, { accountId: "" });
  const worst = await worstOf(view, "open", MOST_ROWS);
  const shown = open > MOST_ROWS ? worst.slice(0, MOST_ROWS - 1) : worst;
  const more = open - shown.length;
  const room = FEW - shown.length;
  const rows = [
    ...shown.filter(({ silenced_by }) => silenced_by === null),
    ...shown.filter(({ silenced_by }) => silenced_by !== null),
    ...(room > 0 ? await worstOf(view, "acknowledged", room) : []),
  ];
  const about: NowAbout = {
    nameOf: naming(store),
    faces,
    look: lookAhead(store, view.now),
    last: lastOfAll(store, rows),
  };
  const apart = apartOf(store, rows);
  const head = html`<div class="head">${drawnMark}<h1 id="open">${open} open${acknowledged > 0 && ` · ${acknowledged} taken`}</h1></div>`;
  const draw = (row: AlertRow) => wallRow(view, row, { apart: apart.get(row.id), about });
  return html`${head}${open === 0 && html`<p class="what">Nothing is open.</p>`}${
    rows.length > 0 && html`<ol${rows.length <= FEW && html` class="few"`}>${rows.map(draw)}</ol>`
  }${more > 0 && html`<p class="about">and ${more} more</p>`}`;
}

async function worstOf(
  { tenant: { store } }: WallView,
  state: "open" | "acknowledged",
  limit: number,
) {
  const { groups } = await groupAlerts(store, { states: [state], limit, isGroup: () => false });
  return groups.flatMap(({ alerts }) => alerts.map(({ id }) => getAlertRow(store, id)));
}

function wallRow(
  view: WallView,
  row: AlertRow,
  { apart, about }: { apart: Apart | undefined; about: NowAbout },
): Markup {
  const { tenant, now, messages } = view;
  const { level, project, rule, opened_at, silenced_by, state } = row;
  const names = aboutText(row, apart);
  const where = `${project} · ${rule}`;
  // To the minute, so that a screen isn't sent the same again and again.
  const age = now - opened_at < 60 ? "just now" : span(now - opened_at);
  const { mark, first, after } = nowWords({ tenant, now, look: LOOK, who: NOBODY }, row, about);
  const kind = state !== "open" ? "has" : silenced_by !== null ? "quiet" : "free";
  return html`<li class="${kind}"><p class="what" dir="auto">${messages ? markedTitle(row) : where}</p><div class="under"><p class="about">${levelBadge(level)} · ${age}${messages && ` · ${where}`}${messages && names !== "" && ` · ${names}`}</p><p class="about now">${mark}<span>${first}<span class="after"> · ${after}</span></span></p></div></li>
`;
}

/** Who has each schedule now, until when, and who has it then. */
async function onCall(view: WallView, faces: Faces): Promise<Markup> {
  const all = listAllSchedules(view.tenant.store);
  const seats: Markup[] = [];
  for (const stored of all.slice(0, MOST_SEATS)) seats.push(await seat(view, stored, faces));
  const more = all.length - seats.length;
  return html`<h2 id="on-call">On call</h2>${seats.length === 0 ? html`<p class="about">No schedule.</p>` : html`<ul>${seats}</ul>`}${
    more > 0 && html`<p class="about">and ${more} more schedules</p>`
  }`;
}

async function seat({ tenant, now }: WallView, stored: StoredSchedule, faces: Faces) {
  const asking = { reader: tenant.store, slices: tenant.slices };
  const current = await currentOnCall(asking, stored, now);
  const clock = (at: number) => clockTime({ now, look: LOOK }, at);
  const card = (mark: Piece, who: Markup, then: Piece) =>
    html`<li>${mark}<div>${who}<p class="about">${stored.project} / ${stored.name}</p>${then !== "" && html`<p class="about">${then}</p>`}</div></li>
`;
  if (!current.on_call) {
    const { next } = current;
    const who = current.off
      ? html`<p class="what">Nobody, as planned</p>`
      : html`<p class="what none">Nobody</p>`;
    const then = next && html`${faces(next.account_id).name} from ${clock(next.starts_at)}`;
    return card(squareChip(current.off ? "moon" : "warn"), who, then ?? "nobody is next");
  }
  const names = current.accounts.map((one) => faces(one.account_id).name).join(", ");
  const who = html`<p class="what" dir="auto">${names}</p>`;
  const { ends_at: end } = current;
  if (end === null) return card(chip(faces(current.account_id)), who, "");
  const after = await currentOnCall(asking, stored, end);
  const then = after.on_call
    ? faces(after.account_id).name
    : html`<b${!after.off && html` class="none"`}>nobody</b>`;
  return card(chip(faces(current.account_id)), who, html`until ${clock(end)}, then ${then}`);
}
