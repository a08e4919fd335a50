import { html, type Piece } from "../../kit/html.ts";
import { findSilence } from "../../quiet/rows.ts";
import { toSilence } from "../../quiet/silences.ts";
import type { PageCall } from "../screen.ts";
import { silenceDeeds, silenceFacts } from "./card.ts";

/** A silence on the page of an alert that it keeps quiet: all of it, and how it is ended. Nothing of one that is gone. */
export function silenceNotice(call: PageCall, id: string): Piece {
  const row = findSilence(call.tenant.store, id);
  if (row === null) return false;
  const silence = toSilence(call.tenant.store, row, call.now);
  return html`${silenceFacts(call, silence)}${silenceDeeds(call, silence)}<p><a href="${call.base}/silences/${id}">The silence</a></p>`;
}
