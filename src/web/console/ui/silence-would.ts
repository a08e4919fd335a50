import { previewNarrowest } from "../../../core/alerts/narrowest.ts";
import {
  previewSilence,
  type SilencePreview,
  type TitledAlert,
} from "../../../core/alerts/silencing.ts";
import type { SilenceBody, SilenceWrite } from "../../../core/quiet/silence.ts";
import { silenceOf } from "../../../core/quiet/silences.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { othersFirst } from "../../../ground/kit/slices.ts";
import type { PageCall } from "../screen.ts";
import { counted } from "./pieces.ts";

/** What a silence would do, in the words of its form; why it can't be made, where it can't. `inMenu`: without links. */
export async function wouldWords(
  call: PageCall,
  write: () => SilenceWrite,
  how: { inMenu?: true } = {},
): Promise<Markup> {
  const { tenant, who, now: at } = call;
  try {
    const row = silenceOf(tenant.store, { write: write(), createdBy: who.accountId, at });
    const isLater = row.starts_at > at;
    const { critical } = JSON.parse(row.body) as SilenceBody;
    const preview = await previewSilence(tenant.store, [row], { at, pause: othersFirst });
    return previewWords(call, preview, { isLater, critical, inMenu: how.inMenu === true });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return html`<p class="soft">Not yet: ${error.message}${error.details.map(
      ({ field = "", reason }) => html` <span class="small">${field.slice(1)} ${reason}.</span>`,
    )}</p>`;
  }
}

/** What silences of these alerts would take beside them. In a menu. */
export async function besideWords(call: PageCall, ids: readonly number[]): Promise<Markup> {
  const { tenant, who, now: at } = call;
  const of = { at, accountId: who.accountId, pause: othersFirst };
  const { open, named, past } = await previewNarrowest(tenant.store, ids, of);
  const names = namesOf(call, named, { count: open, inMenu: true });
  return html`<p class="soft">Beside these the silences match ${open === 0 ? "no open alert" : counted(open, "open alert")}, and would have matched ${counted(past.alerts, "alert")} of the last ${past.days} days.</p>${names}`;
}

/** "Now: silences 2 open alerts. In the last 7 days it would have kept back 11 alerts, 3 pages.", each with their names. */
function previewWords(
  call: PageCall,
  { open, named, past, complete }: SilencePreview,
  { isLater, critical, inMenu }: { isLater: boolean; critical: boolean; inMenu: boolean },
): Markup {
  const takes = isLater ? "if it began now, it would silence" : "silences";
  return html`<p><strong>Now: ${takes} ${open === 0 ? "no open alert" : counted(open, "open alert")}</strong>.</p>${namesOf(call, named, { count: open, inMenu })}
<p>In the last ${past.days} days it would have kept back ${counted(past.alerts, "alert")}, ${counted(past.pages, "page")}.</p>${namesOf(call, past.named, { count: past.alerts, inMenu })}
<p class="soft">Critical ones like it: ${past.critical} in ${past.days} days${past.critical > 0 && (critical ? ", which it keeps back, too" : ", which ring unless they are ticked")}.${!complete && " Only the newest 20,000 alerts were looked at."}</p>`;
}

/** Alerts by their names; in a menu without links, which would be entries of it. */
function namesOf(
  { base }: PageCall,
  named: readonly TitledAlert[],
  { count, inMenu }: { count: number; inMenu: boolean },
): Piece {
  if (named.length === 0) return false;
  const more = count - named.length;
  const one = ({ id, title }: TitledAlert) => {
    const name = html`#${id} <span dir="auto">${title}</span>`;
    return html`<li>${inMenu ? name : html`<a href="${base}/a/${id}">${name}</a>`}</li>`;
  };
  return html`<ul class="small">${named.map(one)}${more > 0 && html`<li class="soft">${more} more</li>`}</ul>`;
}
