import type { Tx } from "../../ground/store/store.ts";
import { type Receipt, takeReceipt } from "../../out/paging/receipt.ts";
import { nobodyGotIt } from "./fallback.ts";
import { writeLateTimeline } from "./timeline.ts";

/** What a service says of a page later: a page that it had taken and lost brings the ladder forward, as one that it refused. */
export function hearReceipt(tx: Tx, receipt: Receipt): void {
  takeReceipt(tx, { tell: writeLateTimeline, unreached: nobodyGotIt }, receipt);
}
