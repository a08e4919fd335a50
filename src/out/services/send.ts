import type { Egress } from "../../ground/kit/egress.ts";
import type { Log } from "../../ground/kit/log.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Store } from "../../ground/store/store.ts";
import { tenantClock } from "../../people/reader-clock.ts";
import { type Credentials, openCredentials } from "../outbox/credentials.ts";
import { inCustomWords } from "../outbox/custom-words.ts";
import {
  type ChannelSender,
  type IntegrationRow,
  type Outgoing,
  type Sent,
  UNREADABLE,
} from "../outbox/destination.ts";
import type { EventBody } from "../outbox/event.ts";
import type { EventNames } from "../outbox/event-names.ts";
import { describe, type Message } from "../outbox/message.ts";
import { isPushEvent } from "../outbox/phones.ts";
import { callRelay, findRelay, isInFlight } from "../outbox/relay.ts";
import { type ExchangeWatch, watchExchange } from "../outbox/tried.ts";
import type { ChannelAttempt, Host, Settings } from "./channel.ts";
import type { ChannelList } from "./list.ts";

export interface SenderOptions {
  store: Store;
  log: Log;
  sealer: Sealer;
  egress: Egress;
  channels: ChannelList;
  /** What the operator set; the others have their usual value. */
  settings: Settings;
  push?: NonNullable<Host["push"]>;
  hears?: NonNullable<Host["hears"]>;
  /** Where people see the box; empty: nowhere that they could be led to. */
  publicUrl: string;
}

/** The one way from an integration to its receiver: real deliveries and test-fires take it alike. */
export function createSender(options: SenderOptions): ChannelSender {
  const { store, channels } = options;
  const host: Host = {
    ...(options.push && { push: options.push }),
    ...(options.hears && { hears: options.hears }),
    hasRelay: () => findRelay(store) !== null,
  };
  const settings = { ...usual(channels), ...options.settings };
  return {
    async send(integration, message) {
      const watch = watchExchange(options.egress, store.clock);
      try {
        const { answer: _said, ...sent }: Sent & { answer?: unknown } = await send(options, {
          integration,
          message,
          host,
          settings,
          watch,
        });
        const tried = watch.tried(message);
        const devices = sent.paged?.devices;
        return { ...sent, tried: devices === undefined ? tried : { ...tried, devices } };
      } catch (error) {
        const { id, type } = integration;
        options.log.error({ err: error, integration: id, type }, "a channel could not be called");
        return ours("could not be sent: see the log");
      }
    },
    canTest: (kind) => channels.find(kind)?.canTest?.(host) ?? true,
  };
}

/** By the row as it was read: what starts at one look has the same, and its secrets are opened once for all. */
const opened = new WeakMap<IntegrationRow, Credentials>();

/** The settings' usual values by name. */
function usual({ settings }: ChannelList): Settings {
  return Object.fromEntries(Object.entries(settings).map(([name, each]) => [name, each.usual]));
}

async function send(
  options: SenderOptions,
  {
    watch,
    ...what
  }: {
    integration: IntegrationRow;
    message: Outgoing;
    host: Host;
    settings: Settings;
    watch: ExchangeWatch;
  },
): Promise<Sent> {
  const { store, sealer, channels } = options;
  const { integration, message } = what;
  const { egress } = watch;
  if (integration.relay !== 0) return sendRelay({ store, sealer, egress }, message);
  const kind = channels.find(integration.type);
  if (kind === undefined) return ours(`this program knows no channel of type ${integration.type}`);
  const sealed = opened.get(integration) ?? openCredentials(sealer, integration);
  if (sealed === null) return ours(UNREADABLE);
  opened.set(integration, sealed);
  watch.hide(sealed);
  const isOpen = "url" in kind.fields.shape;
  const credentials = isOpen ? { ...sealed, url: integration.url } : sealed;
  return kind.send(
    new Attempted(options, { ...what, credentials, egress, now: store.clock.now() }),
  );
}

type Given = Omit<ChannelAttempt, "event" | "words">;

/** A class, not an object with getters: V8 makes those old from the start, and all that they hold with them. */
class Attempted implements ChannelAttempt {
  readonly credentials: Credentials;
  readonly message: Outgoing;
  readonly integration: IntegrationRow;
  readonly egress: Egress;
  readonly now: number;
  readonly settings: Settings;
  readonly host: Host;
  readonly #options: SenderOptions;
  #event: EventBody | undefined;

  constructor(options: SenderOptions, given: Given) {
    this.credentials = given.credentials;
    this.message = given.message;
    this.integration = given.integration;
    this.egress = given.egress;
    this.now = given.now;
    this.settings = given.settings;
    this.host = given.host;
    this.#options = options;
  }

  get event(): EventBody {
    this.#event ??= JSON.parse(this.message.body) as EventBody;
    return this.#event;
  }

  get words(): Message {
    const { event, integration, message } = this;
    return wordsOf(this.#options, { event, integration, said: message.said });
  }
}

/** The event in the usual words, or in the channel's own. Those that can't be made of this event are left for the usual. */
function wordsOf(
  { store, publicUrl, log }: SenderOptions,
  {
    event,
    integration,
    said,
  }: { event: EventBody; integration: IntegrationRow; said: string | null },
): Message {
  const beside = said === null ? null : (JSON.parse(said) as EventNames);
  const usual = describe(event, {
    said: beside,
    link: linkTo(publicUrl, event),
    clock: tenantClock(store),
  });
  // A text for one alert says nothing of the others.
  if (beside?.together !== undefined || beside?.note !== undefined) return usual;
  if (integration.title_template === "" && integration.body_template === "") return usual;
  try {
    return inCustomWords(usual, integration, { event, said: beside });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.warn({ integration: integration.id, why }, "a channel's own text could not be made");
    return usual;
  }
}

/** The alert's page; null where no alert caused the event or nobody could be led there. */
function linkTo(publicUrl: string, { alert_id: id }: EventBody): string | null {
  return publicUrl === "" || !/^\d+$/.test(id) ? null : `${publicUrl}/a/${id}`;
}

/** One relay for all projects: its address and secret stand in one place (contract §7). */
async function sendRelay(
  via: { store: Store; sealer: Sealer; egress: Egress },
  message: Outgoing,
): Promise<Sent> {
  const { eventId, body, signedAt } = message;
  const relay = findRelay(via.store);
  if (relay === null) return ours("no hosted relay is configured");
  const pages = isPushEvent(message.event);
  const answer = await callRelay(via, relay, { eventId, body, timestamp: signedAt, pages });
  if (answer === null) return ours(UNREADABLE);
  const sent: Sent = { verdict: answer.verdict };
  if (answer.verdict.kind === "delivered" && answer.devices !== null)
    return { ...sent, paged: { devices: answer.devices, accounts: pagedBy(message) } };
  return isInFlight(sent) ? { ...sent, ours: true } : sent;
}

/** An escalation is for those it names, every other event for everybody who is paired (contract §15, Pairing rule 4). */
function pagedBy({ event, body }: Outgoing): readonly string[] | null {
  return event === "alert.escalated" ? (JSON.parse(body) as EventBody).page_accounts : null;
}

/** A fault on this side: it is tried again, and the endpoint is not blamed. */
function ours(error: string): Sent {
  return { verdict: { kind: "later", error }, ours: true };
}
