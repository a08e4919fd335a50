import { findSilence } from "../../../core/quiet/rows.ts";
import { toSilence } from "../../../core/quiet/silences.ts";
import { html, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { silenceDeeds, silenceFacts } from "./card.ts";

/** A silence on the page of an alert that it keeps quiet: all of it, and how it is ended. Nothing of one that is gone. */
export function silenceNotice(call: PageCall, id: string): Piece {
  const row = findSilence(call.tenant.store, id);
  if (row === null) return false;
  const silence = toSilence(call.tenant.store, row, call.now);
  return html`${silenceFacts(call, silence)}${silenceDeeds(call, silence)}<p><a href="${call.base}/silences/${id}">The silence</a></p>`;
}
