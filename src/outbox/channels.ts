import type { Egress } from "../kit/egress.ts";
import type { Sealer } from "../kit/sealer.ts";
import { isSkewed } from "../kit/sign.ts";
import type { IntegrationType } from "../store/schema.ts";
import { sealPlace } from "../store/sealed.ts";
import type { Store } from "../store/store.ts";
import { openCredentials } from "./credentials.ts";
import type { IntegrationRow, Message, Sent } from "./destination.ts";
import type { EventBody } from "./event.ts";
import type { Verdict } from "./retry.ts";
import { sendSlack } from "./senders/slack.ts";
import { sendTelegram } from "./senders/telegram.ts";
import { sendWebhook } from "./senders/webhook.ts";

/** The one way from an integration to its receiver: real deliveries and test-fires take it alike. */
export interface Channels {
  /** Sends the message through the integration's channel. Never throws. */
  send(integration: IntegrationRow, message: Message): Promise<Sent>;
  /** Whether rows of this type have a sender here: apns rows have none on a box (api §6.6). */
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

/** What `last_error` says where a stored credential can't be opened (decisions §10). */
export const UNREADABLE = "sealed credential unreadable: enter it again";

export function createChannels(options: ChannelOptions): Channels {
  const { store, egress } = options;
  const via = () => ({ egress, now: store.clock.now() });

  const send = async (integration: IntegrationRow, message: Message): Promise<Sent> => {
    if (integration.relay !== 0) return sendRelay(options, integration, message);
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

/** The relay's secret stands beside the relay's address, once for all projects (decisions §7). */
async function sendRelay(
  { store, sealer, egress }: ChannelOptions,
  integration: IntegrationRow,
  message: Message,
): Promise<Sent> {
  const sealed = store.sql("SELECT sealed_secret FROM relay").pluck().get() as string | undefined;
  if (sealed === undefined) return ours("no hosted relay is configured");
  const secret = sealer.open(sealed, sealPlace("relay", "sealed_secret", 1));
  if (secret === null) return ours(UNREADABLE);
  const now = store.clock.now();
  const { verdict, serverTime } = await sendWebhook(
    { egress, now },
    { url: integration.url, secret, ...signing(message) },
  );
  return { verdict: inRelayWords(verdict, { now, serverTime }) };
}

/** A relay's refusals mean something: a key that was rotated, or a clock that is off. */
function inRelayWords(
  verdict: Verdict,
  { now, serverTime }: { now: number; serverTime: number | null },
): Verdict {
  if (verdict.kind !== "later") return verdict;
  if (verdict.error === "http 401")
    return { ...verdict, error: "http 401: the relay key was rotated or revoked" };
  const off = serverTime === null ? 0 : Math.round((now - serverTime) / 1000);
  if (verdict.error !== "http 400" || !isSkewed(off, 0)) return verdict;
  return {
    ...verdict,
    error: `http 400: this box's clock is ${Math.abs(off)} s ${off > 0 ? "ahead" : "behind"}`,
  };
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
