import type { z } from "zod";
import type { Egress } from "../../ground/kit/egress.ts";
import type { Random } from "../../ground/kit/random.ts";
import type { SentTo } from "../../ground/kit/sent-to.ts";
import type { Credentials } from "../outbox/credentials.ts";
import type { Sent } from "../outbox/destination.ts";
import type { Via } from "../outbox/senders/sent.ts";
import type { DirectMessage, DirectSent } from "./direct-message.ts";

/** A person's fields or a gateway's settings: texts, optional where one may be left out. */
export type TextFields = z.ZodObject<Record<string, z.ZodType<string | undefined>>>;

/** What one attempt works with. */
export interface ContactAttempt<G = Credentials, F = Credentials> {
  /** The settings of the gateway that serves the kind; `url` is empty for the public service. */
  gateway: G;
  /** The person's own address, and what goes with it. */
  fields: F;
  message: DirectMessage;
  egress: Egress;
  random: Random;
  /** Wall time in Unix milliseconds. */
  now: number;
  /** What links to the box begin with; null where it has no public address. */
  publicUrl: string | null;
  /** What names the tenant in the addresses that the service calls back at: `/…`, empty where there is one tenant. */
  whose: string;
  /** Whose box it is. */
  tenantId: string;
  /**
   * When an attempt at this message began whose end isn't known, in Unix milliseconds; null where this is the first. A
   * service without ids for attempts is asked whether it took it.
   */
  since: number | null;
  /** What stands for having shown the message, for a service that may say so. */
  receipt: string;
}

/** The part of an attempt that most kinds need. */
export type DirectAttempt<G> = Via &
  Pick<ContactAttempt<G, { address: string }>, "gateway" | "fields" | "message">;

/** A kind of contact, whole: its fields, who serves it, how it sends. */
export interface ContactKind {
  /** `sms`: pinned after creation. */
  kind: string;
  /** `a phone number that gets texts`. */
  about: string;
  /** What serves it; null: nothing has to. */
  gateway: GatewayKind | null;
  /** Whether it works without a gateway: there is a public service that asks for no account. */
  gatewayOptional?: true;
  /** `address` among them. */
  fields: TextFields;
  /** Fields that hold a web address: judged at write. */
  addresses?: readonly string[];
  /** Makes the `secret` that was left out; it is answered once. */
  mint?(random: Random): string;
  /** What reads show of the address. */
  shown(fields: Credentials): string;
  /** Later pages wait so many milliseconds after a message and go as one. */
  gapMs: number;
  /** How long a person without rules of their own is left before it is used, in seconds. */
  restSeconds?: number;
  /** Errors by which the service says that the person is gone there, or asked for no more: the contact is switched off. */
  gone?: RegExp;
  /** It is told what became of an alert that it was paged for: by `edit`, or in a silent message where it has none. */
  notes?: true;
  send(attempt: ContactAttempt): Promise<DirectSent>;
  /** Says `message` in place of the one that the service calls `ref`. Only with `notes`. */
  edit?(attempt: ContactAttempt, ref: string): Promise<Sent>;
}

/** What serves contacts for the whole tenant: a mail server, a bot, an account with a service. */
export interface GatewayKind {
  kind: string;
  about: string;
  /** `url` among them where the service has an address that can be another one. */
  fields: TextFields;
  addresses?: readonly string[];
  hosts?: readonly string[];
  /** Where its secrets are sent: at another place they have to be given again. None where they stay here. */
  sent?: SentTo;
  /** Makes what only the box may know: keys. Called once, at the first write. */
  mint?(random: Random): Credentials;
  /** What `mint` makes: it means nothing at another box. */
  made?: readonly string[];
  /** What is wrong with settings that are each in order, but don't belong together; null where nothing is. */
  apart?(settings: Credentials): { field: string; reason: string } | null;
  /** Fields that may be read again, because they are public. */
  open?: readonly string[];
  /** Errors by which the service refuses the settings themselves: nothing is wrong with the person. */
  refuses: RegExp;
  /** One harmless request that shows whether the settings work. */
  prove(attempt: { gateway: Credentials; egress: Egress; now: number }): Promise<Sent>;
}

type FieldsOf<F extends TextFields> = { readonly [K in keyof z.output<F>]: z.output<F>[K] };

/** What a read may show of an address: the last four characters, of a short one at most a third. */
export function masked(address: string): string {
  const all = [...address];
  const most = Math.min(4, Math.floor(all.length / 3));
  return most === 0 ? "…" : `…${all.slice(-most).join("")}`;
}

/** Later pages wait so long, unless the kind says otherwise. */
const GAP_MS = 5_000;

/** A kind as its file writes it: `send` knows the fields by name. What calls it has checked that they are complete. */
export function contactKind<const K extends string, F extends TextFields, G extends TextFields>(
  definition: Omit<
    ContactKind,
    "kind" | "gateway" | "fields" | "shown" | "gapMs" | "send" | "edit"
  > & {
    kind: K;
    gateway: (GatewayKind & { fields: G }) | null;
    fields: F;
    /** The address's last characters, unless the kind says otherwise. */
    shown?(fields: FieldsOf<F>): string;
    gapMs?: number;
    send(attempt: ContactAttempt<FieldsOf<G>, FieldsOf<F>>): Promise<DirectSent>;
    edit?(attempt: ContactAttempt<FieldsOf<G>, FieldsOf<F>>, ref: string): Promise<Sent>;
  },
): ContactKind & { kind: K } {
  const usual = { gapMs: GAP_MS, shown: ({ address = "" }: Credentials) => masked(address) };
  return { ...usual, ...definition } as unknown as ContactKind & { kind: K };
}

/** A gateway as its file writes it. */
export function gatewayKind<const K extends string, F extends TextFields>(
  definition: Omit<GatewayKind, "kind" | "fields" | "sent" | "prove"> & {
    kind: K;
    fields: F;
    sent?: { [part in keyof SentTo]: readonly (keyof z.output<F> & string)[] };
    prove(attempt: { gateway: FieldsOf<F>; egress: Egress; now: number }): Promise<Sent>;
  },
): GatewayKind & { kind: K; fields: F } {
  return definition as unknown as GatewayKind & { kind: K; fields: F };
}
