import { z } from "zod";
import { apns } from "./apns/room.ts";
import { type Channel, fieldsOf, type Setting } from "./channel.ts";
import { discord } from "./discord/room.ts";
import { email } from "./email/room.ts";
import { googleChat } from "./google-chat/room.ts";
import { gotify } from "./gotify/room.ts";
import { matrix } from "./matrix/room.ts";
import { mattermost } from "./mattermost/room.ts";
import { ntfy } from "./ntfy/room.ts";
import { pushover } from "./pushover/room.ts";
import { signal } from "./signal/room.ts";
import { slack } from "./slack/room.ts";
import { teams } from "./teams/room.ts";
import { telegram } from "./telegram/room.ts";
import { webhook } from "./webhook/room.ts";

/** Every kind of channel there is: a new one is a file of its own and a word here. */
const kinds = [
  webhook,
  telegram,
  slack,
  discord,
  mattermost,
  googleChat,
  teams,
  matrix,
  signal,
  ntfy,
  gotify,
  pushover,
  email,
  apns,
] as const;

type KeysOf<T> = T extends unknown ? keyof T & string : never;

/** Every field of any kind. */
export type CredentialField = KeysOf<(typeof kinds)[number]["fields"]["shape"]>;

/** Every setting of any kind. */
export type ChannelSetting = KeysOf<NonNullable<(typeof kinds)[number]["settings"]>>;

/** The kinds that a program knows: what is checked, shown and sent comes from here. */
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
export const channels = channelList(kinds);
