import * as z from "zod";
import { type Channel, fieldsOf, type Setting } from "./channel.ts";
import type { ContactKind, GatewayKind } from "./contact-kind.ts";
import * as persons from "./persons.ts";
import * as rooms from "./rooms.ts";

/** The ways to a person in the order in which they are offered, and those to a room; any other stands behind them. */
const OFFERED = "web_push email sms voice ntfy pushover telegram slack matrix".split(" ");
const ROOMS = "slack teams email webhook telegram discord google_chat mattermost".split(" ");

type Room = (typeof rooms)[keyof typeof rooms];
type KeysOf<T> = T extends unknown ? keyof T & string : never;

/** Every field of any kind. */
export type CredentialField = KeysOf<Room["fields"]["shape"]>;

/** Every setting of any kind. */
export type ChannelSetting = KeysOf<NonNullable<Room["settings"]>>;

/** The kinds of channel that a program knows: what is checked, shown and sent comes from here. */
export interface ChannelList {
  readonly kinds: readonly Channel[];
  /** undefined for a kind of a newer program. */
  find(kind: string): Channel | undefined;
  /** Every field of any kind, by name, as a request may carry it: each may be left out. */
  readonly fields: Readonly<Record<CredentialField, z.ZodOptional<z.ZodType<string>>>>;
  /** `type` of a request. */
  readonly type: z.ZodType<string>;
  readonly settings: Readonly<Record<ChannelSetting, Setting>>;
}

/** Throws where two kinds, or settings of two, are called the same. */
export function channelList(all: readonly Channel[]): ChannelList {
  const byKind = new Map(all.map((each) => [each.kind, each]));
  const settings = all.flatMap((each) => Object.entries(each.settings ?? {}));
  if (byKind.size < all.length || new Map(settings).size < settings.length)
    throw new Error("two kinds of channel, or two of their settings, are called the same");
  const names = all.map(({ kind }) => kind);
  const fields = [...new Set(all.flatMap((each) => fieldsOf(each).all))];
  return {
    kinds: all,
    find: (kind) => byKind.get(kind),
    fields: Object.fromEntries(
      fields.map((name) => [name, writtenField(all, name)]),
    ) as ChannelList["fields"],
    type: z.enum(names, { error: `must be one of ${names.join(", ")}` }),
    settings: Object.fromEntries(settings) as ChannelList["settings"],
  };
}

/** What any of the kinds that have the field would take; which of them it is shows when the type is known. */
function writtenField(all: readonly Channel[], name: string) {
  const own = all.flatMap(({ kind, fields: { shape } }) => {
    const field = shape[name];
    return field === undefined ? [] : [{ kind, field }];
  });
  const [first, ...others] = own.map(({ field }) => bare(field));
  const any = others.length === 0 ? first : z.union([first, ...others] as z.ZodType<string>[]);
  const description = own.map(({ kind, field }) => `${kind}: ${field.meta()?.description ?? name}`);
  return (any as z.ZodType<string>).optional().meta({ description: description.join("; ") });
}

function bare(field: z.ZodType<string | undefined>): z.ZodType<string> {
  return (field instanceof z.ZodOptional ? field.unwrap() : field) as z.ZodType<string>;
}

/** The program's own. */
export const channels = channelList(inOrder(Object.values<Channel>(rooms), ROOMS));

/** The same of contacts. Throws where two kinds are called the same. */
function contactList(kinds: readonly ContactKind[]) {
  const served = [...new Set(kinds.flatMap(({ gateway }) => gateway ?? []))];
  // What the box sets up by itself stands behind what somebody has to.
  const gateways = served.toSorted((a, b) => (a.made?.length ?? 0) - (b.made?.length ?? 0));
  const byKind = new Map(kinds.map((each) => [each.kind, each]));
  const byGateway = new Map(gateways.map((each) => [each.kind, each]));
  if (byKind.size < kinds.length || byGateway.size < gateways.length)
    throw new Error("two kinds of contact, or two gateways, are called the same");
  return {
    kinds,
    gateways,
    /** undefined for a kind of a newer program. */
    find: (kind: string) => byKind.get(kind),
    gateway: (kind: string) => byGateway.get(kind),
    /** Each field of any kind, as a request may carry it. */
    fields: written(kinds),
    gatewayFields: written(gateways),
  };
}

/** What a request may hold for any of the kinds; each kind checks its own when it is known. */
function written(kinds: readonly (ContactKind | GatewayKind)[]) {
  const names = [...new Set(kinds.flatMap(({ fields }) => Object.keys(fields.shape)))];
  return Object.fromEntries(
    names.map((name) => {
      const about = kinds
        .filter(({ fields }) => name in fields.shape)
        .map(({ kind, fields }) => `${kind}: ${fields.shape[name]?.meta()?.description ?? name}`);
      return [
        name,
        z
          .string()
          .optional()
          .meta({ description: about.join("; ") }),
      ];
    }),
  ) as Record<string, z.ZodOptional<z.ZodType<string>>>;
}

/** By their place in a list, and behind that by their kind. */
function inOrder<T extends { kind: string }>(all: readonly T[], order: readonly string[]): T[] {
  const place = ({ kind }: T) => (order.includes(kind) ? order.indexOf(kind) : order.length);
  return all.toSorted((a, b) => place(a) - place(b) || (a.kind < b.kind ? -1 : 1));
}

/** The program's own. */
export const contactKindList = contactList(inOrder(Object.values<ContactKind>(persons), OFFERED));
