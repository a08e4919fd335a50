import type { Via } from "../../outbox/senders/sent.ts";
import { jsonIn } from "../post.ts";
import { apiOf, type PushoverGateway } from "./person.ts";

/** How an emergency stands. */
interface PushoverReceipt {
  /** When the person took it there, in Unix seconds; null while nobody has. */
  acknowledgedAt: number | null;
  /** It rings no more, whoever did what. */
  isOver: boolean;
}

/** Asks how an emergency stands; Pushover wants five seconds between two questions. null: not to be had now. */
export async function readPushoverReceipt(
  via: Via,
  { gateway }: { gateway: PushoverGateway },
  ref: string,
): Promise<PushoverReceipt | null> {
  const { apiUrl, token } = apiOf(gateway);
  const query = new URLSearchParams({ token });
  const { status, body } = await via.egress.send({
    method: "GET",
    url: `${apiUrl}/1/receipts/${encodeURIComponent(ref)}.json?${query}`,
  });
  const { status: told, acknowledged, acknowledged_at: at, expired } = jsonIn(body);
  if (status !== 200 || told !== 1) return null;
  const isTaken = acknowledged === 1 && Number.isSafeInteger(at);
  return { acknowledgedAt: isTaken ? (at as number) : null, isOver: isTaken || expired === 1 };
}
