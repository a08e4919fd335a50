import type { Reader } from "../../../ground/store/store.ts";
import { getDelivery } from "../../../out/outbox/delivery-detail.ts";
import { listDeliveries } from "../../../out/outbox/rows.ts";

/** How many of the newest are looked at. */
const LOOKED = 20;

/** The receiver's last words, credentials masked, as far as the newest deliveries have any; null where there are none. */
export function lastAnswer(reader: Reader, channel: { id: string; url: string }): string | null {
  for (const { id, attempts } of listDeliveries(reader, channel.id, { limit: LOOKED })) {
    if (attempts === 0) continue;
    const answer = getDelivery(reader, channel, id).tries.at(-1)?.answer.trim() ?? "";
    return answer === "" ? null : answer;
  }
  return null;
}
