import * as z from "zod";
import { list, text } from "../../ground/kit/fields.ts";
import type { Fallback, Gateway } from "../../out/contacts/contact.ts";
import { contactKindList } from "../../out/services/list.ts";
import type { Account } from "../../people/account.ts";
import { type Lookup, lookUp } from "./secrets.ts";
import { type Reference, reference } from "./shape.ts";
import { type ListedThings, tenantLists, tenantNouns, writtenThing } from "./tenant-nouns.ts";

/** A file's settings of the whole box: holidays, ladders, gateways, and the fallback. */

/** Whether a setting is written as text. All others are secrets. */
const isOpen = (kind: string, field: string): boolean =>
  field === "url" || (contactKindList.gateway(kind)?.open ?? []).includes(field);

const kinds = contactKindList.gateways.map(({ kind }) => kind);
const setting = z.union([text(2048), reference], {
  error: 'must be a text, "kept", {env: NAME} or {file: path}',
});

const gateway = z
  .strictObject({
    kind: z.enum(kinds, { error: `must be one of ${kinds.join(", ")}` }),
    ...Object.fromEntries(
      Object.keys(contactKindList.gatewayFields).map((field) => [field, setting.optional()]),
    ),
  })
  .superRefine((given: Record<string, unknown>, context) => {
    const kind = String(given["kind"]);
    for (const [field, value] of Object.entries(given)) {
      if (field === "kind" || value === undefined) continue;
      const isText = typeof value === "string" && value !== "kept";
      const message = isOpen(kind, field)
        ? "is no secret: write its value"
        : 'is a secret: "kept", {env: NAME} or {file: path}';
      if (isText !== isOpen(kind, field))
        context.addIssue({ code: "custom", path: [field], message });
    }
  });

export const tenantConfig = z.strictObject({
  ...tenantLists,
  /** Left out: they stay as they are. */
  gateways: list(gateway, 20).optional(),
  /** Left out: it stays. Both lists empty: every owner. */
  fallback: z
    .strictObject({
      people: list(text(320, 1), 50).default([]),
      schedules: list(text(300, 3), 20).default([]),
    })
    .optional(),
});

/** A gateway of a file with its secrets read. Kept secrets aren't among its settings. */
interface FileGateway {
  kind: string;
  settings: Record<string, string>;
}

type TenantConfig = z.output<typeof tenantConfig>;

export type FileTenant = Omit<TenantConfig, "gateways"> & { gateways?: FileGateway[] | undefined };

/** Throws ReferenceFault. */
export function lookUpTenant({ gateways, ...plain }: TenantConfig, lookup: Lookup): FileTenant {
  const settingsOf = (given: Record<string, unknown>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(given).flatMap(([field, value]) => {
        if (value === undefined || value === "kept") return [];
        const found =
          typeof value === "string" ? value : lookUp(value as Exclude<Reference, "kept">, lookup);
        return [[field, found]];
      }),
    );
  return {
    ...plain,
    gateways: gateways?.map(({ kind, ...given }) => ({ kind, settings: settingsOf(given) })),
  };
}

/** What is set of the whole box, as the interface answers it. */
export interface TenantNow {
  things: ListedThings;
  gateways: readonly Gateway[];
  fallback: Fallback;
  accounts: readonly Account[];
}

/** The section as a file contains it; undefined where nothing is set. Secrets that a read doesn't return are "kept". */
export function compactTenant({ things, ...now }: TenantNow): object | undefined {
  const emails = new Map(now.accounts.map(({ id, email }) => [id, email]));
  const emailOf = (id: string) => emails.get(id) ?? id;
  const gateways = now.gateways.map(({ kind, url, open }) => ({
    kind,
    ...(url === "" ? {} : { url }),
    ...withoutMade(kind, open),
    ...keptOf(kind),
  }));
  const { accounts, schedules } = now.fallback;
  const fallback = filled({ people: accounts.map(emailOf), schedules });
  const lists = tenantNouns.map(([key, noun]) => [
    key,
    things[key].map((one) => writtenThing(noun, noun.ofFile(one, emailOf))),
  ]);
  const section = filled({ ...Object.fromEntries(lists), gateways, fallback });
  return Object.keys(section).length === 0 ? undefined : section;
}

const filled = (parts: Readonly<Record<string, object>>): Record<string, object> =>
  Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0));

/** Leaves out values that each box makes for itself. */
function withoutMade(kind: string, open: Readonly<Record<string, string>>): object {
  const made = contactKindList.gateway(kind)?.made ?? [];
  return Object.fromEntries(Object.entries(open).filter(([name]) => !made.includes(name)));
}

/** The secrets that a gateway of the kind always has. */
function keptOf(kind: string): Record<string, string> {
  const fields = Object.entries(contactKindList.gateway(kind)?.fields.shape ?? {});
  const secrets = fields.filter(([name, schema]) => !isOpen(kind, name) && !schema.isOptional());
  return Object.fromEntries(secrets.map(([name]) => [name, "kept"]));
}
