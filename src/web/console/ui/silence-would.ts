import { previewSilence, type SilencePreview } from "../../../core/alerts/silencing.ts";
import type { SilenceBody, SilenceWrite } from "../../../core/quiet/silence.ts";
import { silenceOf } from "../../../core/quiet/silences.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { othersFirst } from "../../../ground/kit/slices.ts";
import type { PageCall } from "../screen.ts";
import { counted } from "./pieces.ts";
import { alertLinks } from "./silence-card.ts";

const MOST_NAMED = 12;

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
    return previewWords(call, await previewSilence(tenant.store, row, { at, pause: othersFirst }), {
      isLater,
      critical,
      inMenu: how.inMenu === true,
    });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return html`<p class="soft">Not yet: ${error.message}${error.details.map(
      ({ field = "", reason }) => html` <span class="small">${field.slice(1)} ${reason}.</span>`,
    )}</p>`;
  }
}

/** "Now: silences 2 open alerts (#130, #127). In the last 7 days it would have kept back 11 alerts, 3 pages." */
function previewWords(
  call: PageCall,
  { alerts, past, complete }: SilencePreview,
  { isLater, critical, inMenu }: { isLater: boolean; critical: boolean; inMenu: boolean },
): Markup {
  const most = alerts.slice(0, MOST_NAMED);
  const more = alerts.length - most.length;
  // A link in a menu is one of its entries.
  const names = inMenu ? most.map((id) => `#${id}`).join(", ") : alertLinks(call, most);
  const named: Piece = alerts.length > 0 && html` (${names}${more > 0 && `, ${more} more`})`;
  const takes = isLater ? "if it began now, it would silence" : "silences";
  return html`<p><strong>Now: ${takes} ${alerts.length === 0 ? "no open alert" : counted(alerts.length, "open alert")}</strong>${named}. In the last ${past.days} days it would have kept back ${counted(past.alerts, "alert")}, ${counted(past.pages, "page")}.</p>
<p class="soft">Critical ones like it: ${past.critical} in ${past.days} days${past.critical > 0 && (critical ? ", which it keeps back, too" : ", which ring unless they are ticked")}.${!complete && " Only the newest 20,000 alerts were looked at."}</p>`;
}
