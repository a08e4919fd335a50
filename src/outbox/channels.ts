import type { Egress } from "../kit/egress.ts";
import type { Sealer } from "../kit/sealer.ts";
import type { IntegrationType } from "../store/schema.ts";
import type { Store } from "../store/store.ts";
import { openCredentials } from "./credentials.ts";
import type { IntegrationRow, Message, Sent } from "./destination.ts";
import type { EventBody } from "./event.ts";
import { callRelay, findRelay, isInFlight } from "./relay.ts";
import { sendSlack } from "./senders/slack.ts";
import { sendTelegram } from "./senders/telegram.ts";
import { sendWebhook } from "./senders/webhook.ts";

/** The one way from an integration to its receiver: real deliveries and test-fires take it alike. */
export interface Channels {
  /** Sends the message through the integration's channel. Never throws. */
  send(integration: IntegrationRow, message: Message): Promise<Sent>;
  /** Whether rows of this type have a sender here: apns rows have none on a box (contract §17, rule 6). */
  hasSender(type: IntegrationType): boolean;
}

export interface ChannelOptions {
  store: Store;
  sealer: Sealer;
  egress: Egress;
  /** The Telegram Bot API's address. */
  telegramApi: string;
  /** Pushes to the devices of the tenant's members; absent on a box. */
  apns?: (integration: IntegrationRow, message: Message) => Promise<Sent>;
}

/** What `last_error` says where a stored credential can't be opened (contract §10). */
export const UNREADABLE = "sealed credential unreadable: enter it again";

export function createChannels(options: ChannelOptions): Channels {
  const { store, egress } = options;
  const via = () => ({ egress, now: store.clock.now() });

  const send = async (integration: IntegrationRow, message: Message): Promise<Sent> => {
    if (integration.relay !== 0) return sendRelay(options, message);
    if (integration.type === "apns")
      return options.apns?.(integration, message) ?? notFromHere(store);
    const credentials = openCredentials(options.sealer, integration);
    if (credentials === null) return ours(UNREADABLE);
    switch (integration.type) {
      case "webhook":
        return sendWebhook(via(), {
          url: integration.url,
          secret: credentials.secret ?? "",
          ...signing(message),
        });
      case "telegram":
        return sendTelegram(via(), {
          apiUrl: options.telegramApi,
          token: credentials.token ?? "",
          chatId: credentials.chat_id ?? "",
          event: eventOf(message),
          link: null,
        });
      case "slack":
        return sendSlack(via(), {
          webhookUrl: credentials.webhook_url ?? "",
          event: eventOf(message),
          link: null,
        });
    }
  };

  return {
    send,
    hasSender: (type) => type !== "apns" || options.apns !== undefined,
  };
}

/** One relay for all projects: its address and secret stand in one place (contract §7). */
async function sendRelay(
  { store, sealer, egress }: ChannelOptions,
  message: Message,
): Promise<Sent> {
  const relay = findRelay(store);
  if (relay === null) return ours("no hosted relay is configured");
  const answer = await callRelay({ store, sealer, egress }, relay, signing(message));
  if (answer === null) return ours(UNREADABLE);
  const sent: Sent = { verdict: answer.verdict };
  if (answer.verdict.kind === "delivered" && answer.devices !== null)
    return { ...sent, paged: { devices: answer.devices, accounts: pagedBy(message) } };
  return isInFlight(sent) ? { ...sent, ours: true } : sent;
}

/** An escalation is for those it names, every other event for everybody who is paired (contract §15, Pairing rule 4). */
function pagedBy(message: Message): readonly string[] | null {
  return message.event === "alert.escalated" ? eventOf(message).page_accounts : null;
}

/** An apns row of a box: who pushes instead, so that its deliveries don't look lost. */
function notFromHere(store: Store): Sent {
  const configured = store.sql("SELECT 1 FROM relay").get() !== undefined;
  return {
    verdict: {
      kind: "dropped",
      error: configured
        ? "pushed by the hosted service, which gets this event through the relay"
        : "not pushed: no hosted relay is configured",
    },
  };
}

/** A fault on this side: it is tried again, and the endpoint is not blamed. */
function ours(error: string): Sent {
  return { verdict: { kind: "later", error }, ours: true };
}

function signing({ eventId, body, signedAt }: Message) {
  return { eventId, body, timestamp: signedAt };
}

function eventOf({ body }: Message): EventBody {
  return JSON.parse(body) as EventBody;
}
