import * as z from "zod";
import { notFound } from "../../ground/kit/errors.ts";
import type { Reader } from "../../ground/store/store.ts";
import { type Delivery, deliveryAnswer, findDelivery } from "./rows.ts";
import { type KeptTry, requestOf } from "./tried.ts";

const sentRequest = z.object({
  method: z.string(),
  url: z.string().meta({ description: "As the channel shows it; may be empty." }),
  headers: z.record(z.string(), z.string()).meta({
    description: "What identifies the sender is shown as [sealed].",
  }),
  body: z.string().nullable().meta({
    description:
      "As sent, credentials masked, its first 16,384 characters; null where the event is no longer kept.",
  }),
});

const tryAnswer = z.object({
  at: z.int().meta({ description: "Unix seconds of its beginning." }),
  duration_ms: z.int(),
  status_code: z.int().nullable(),
  error: z.string().nullable().meta({ description: "Null if it was delivered." }),
  answer: z.string().meta({ description: "The first 512 characters, credentials masked." }),
  devices: z.int().optional().meta({ description: "Phones that were paged." }),
});

/** A delivery with what was sent and how the last attempts ended. */
export const deliveryDetailAnswer = deliveryAnswer
  .extend({
    request: sentRequest.nullable().meta({
      description: "The latest attempt's; null before the first, and where it speaks no HTTP.",
    }),
    tries: z.array(tryAnswer).max(5).meta({ description: "The last five, oldest first." }),
  })
  .meta({ id: "DeliveryDetail" });
export type DeliveryDetail = z.output<typeof deliveryDetailAnswer>;

interface KeptRow {
  tries: string | null;
  request: string | null;
  signedAt: number | null;
  eventId: string | null;
  body: string | null;
}

const KEPT = `SELECT d.tries, d.request, d.signed_at AS signedAt, e.event_id AS eventId, e.body FROM deliveries d LEFT JOIN events e ON e.id = d.event_row
  WHERE d.id = ?`;

/** One of the channel's deliveries. `url`: what the channel shows of its address. Throws 404. */
export function getDelivery(
  reader: Reader,
  { id: integrationId, url }: { id: string; url: string },
  deliveryId: string,
): DeliveryDetail {
  const row: Delivery | null = findDelivery(reader, integrationId, deliveryId);
  if (row === null) throw notFound("delivery");
  const kept = reader.sql<[id: string], KeptRow>(KEPT).get(row.id);
  const sent = kept === undefined ? null : requestOf(kept);
  return {
    ...row,
    request: sent && { ...sent, url, body: sent.body ?? kept?.body ?? null },
    tries: kept?.tries ? (JSON.parse(kept.tries) as KeptTry[]) : [],
  };
}
