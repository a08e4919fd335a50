import type { Egress } from "../../ground/kit/egress.ts";
import type { Log } from "../../ground/kit/log.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Store } from "../../ground/store/store.ts";
import { type ContactRow, openContact } from "../contacts/contacts.ts";
import { openGateway } from "../contacts/gateways.ts";
import type { Credentials } from "../outbox/credentials.ts";
import { UNREADABLE } from "../outbox/destination.ts";
import type { ContactAttempt, ContactKind } from "../services/contact-kind.ts";
import type { DirectMessage, DirectSent } from "../services/direct-message.ts";
import { contactKindList } from "../services/list.ts";
import { CAPABILITY_SECONDS, callbackSegment, linkBase, tenantOf } from "./capability.ts";
import type { MessageName } from "./message-name.ts";
import { receiptOf } from "./shown.ts";

interface ContactSenderOptions {
  store: Store;
  log: Log;
  sealer: Sealer;
  egress: Egress;
  /** The address that was set for links; empty where none was. */
  publicUrl: string;
  /** Whether the service has other tenants, too: where services call back names this one. */
  oneOfMany: boolean;
}

/** The one way from a message to a person: pages, codes and tests take it alike. Never throws. */
export type ContactSender = ReturnType<typeof createContactSender>;

/** Beside what is said. */
interface SendContext {
  /** What the service calls the message in whose place it is said. */
  ref: string | null;
  /** null: it names no row, a test. */
  name: MessageName | null;
  /** When an earlier attempt at it began, in Unix milliseconds. */
  since: number | null;
}

export function createContactSender(options: ContactSenderOptions) {
  const { store, log, sealer, egress } = options;
  const attempt = async (
    to: Addressed,
    message: DirectMessage,
    { ref, name, since }: SendContext,
  ): Promise<DirectSent> => {
    const kind = contactKindList.find(to.kind);
    if (kind === undefined) return ours(`this program knows no contact of kind ${to.kind}`);
    const { fields } = to;
    if (fields === null) return ours(UNREADABLE);
    const gateway = kind.gateway && openGateway(store, sealer, kind.gateway.kind);
    if (gateway === null && kind.gateway !== null && !kind.gatewayOptional)
      return ours(`no ${kind.gateway.kind} gateway is set up, or its settings can't be read`);
    const work: ContactAttempt = {
      gateway: gateway ?? {},
      fields,
      message,
      egress,
      random: store.random,
      now: store.clock.now(),
      publicUrl: linkBase(store, options.publicUrl),
      since,
      whose: options.oneOfMany ? `/${callbackSegment(sealer, tenantOf(store))}` : "",
      tenantId: tenantOf(store),
      receipt: receiptOf(sealer, {
        tenantId: tenantOf(store),
        contactId: to.id,
        name,
        until: Math.floor(store.clock.now() / 1000) + CAPABILITY_SECONDS,
      }),
    };
    const sent = ref !== null && kind.edit ? await kind.edit(work, ref) : await kind.send(work);
    return judged(sent, kind);
  };
  const guarded = async (to: Addressed, message: DirectMessage, how: SendContext) => {
    try {
      return await attempt(to, message, how);
    } catch (error) {
      const { id, kind } = to;
      log.error({ err: error, contact: id, kind }, "a contact could not be called");
      return ours("could not be sent: see the log");
    }
  };
  return {
    send: (
      { id, kind, sealed }: ContactRow,
      message: DirectMessage,
      how: Partial<SendContext> = {},
    ) =>
      guarded({ id, kind, fields: openContact(sealer, { id, sealed }) }, message, {
        ...PLAIN,
        ...how,
      }),
    /** To somebody who has no contact here yet: an address of this kind. */
    sendTo: (
      to: { kind: string; fields: Readonly<Record<string, string>> },
      message: DirectMessage,
    ) => guarded({ id: "", ...to }, message, PLAIN),
  };
}

const PLAIN: SendContext = { ref: null, name: null, since: null };

/** Whom a message goes to. `fields` null: they can't be opened. */
interface Addressed {
  /** Of the contact; empty: it is none. */
  id: string;
  kind: string;
  fields: Credentials | null;
}

/**
 * What the service's error means for the person: refused settings are the gateway's matter, and the page waits for
 * better ones; whoever is gone there, or wants no more, is paged no more.
 */
function judged(sent: DirectSent, { gone, gateway }: ContactKind): DirectSent {
  const { verdict } = sent;
  if (verdict.kind !== "later" && verdict.kind !== "never") return sent;
  const { error } = verdict;
  if (gateway?.refuses.test(error)) return ours(error);
  if (!gone?.test(error)) return sent;
  return { ...sent, verdict: { kind: "never", error, disable: true } };
}

/** Nothing is wrong with the contact: it is tried again, and not blamed; its alert doesn't wait for it. */
function ours(error: string): DirectSent {
  return { verdict: { kind: "later", error }, ours: true, refused: true };
}
