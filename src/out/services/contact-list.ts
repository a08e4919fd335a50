import { z } from "zod";
import type { ContactKind, GatewayKind } from "./contact-kind.ts";
import { emailContact, emailGateway } from "./email/person.ts";
import { matrixContact, matrixGateway } from "./matrix/person.ts";
import { ntfyContact, ntfyGateway } from "./ntfy/person.ts";
import { pushoverContact, pushoverGateway } from "./pushover/person.ts";
import { slackContact, slackGateway } from "./slack/person.ts";
import { telegramContact, telegramGateway } from "./telegram/person.ts";
import { smsContact, twilioGateway, voiceContact } from "./twilio/person.ts";
import { webPushContact, webPushGateway } from "./web-push/person.ts";
import { webhookContact } from "./webhook/person.ts";

/** Every kind of contact there is: a new one is a file of its own and a word here. */
const contactKinds: readonly ContactKind[] = [
  webPushContact,
  emailContact,
  smsContact,
  voiceContact,
  ntfyContact,
  pushoverContact,
  telegramContact,
  slackContact,
  matrixContact,
  webhookContact,
];

/** Whatever serves them. */
const gatewayKinds: readonly GatewayKind[] = [
  emailGateway,
  twilioGateway,
  ntfyGateway,
  pushoverGateway,
  telegramGateway,
  slackGateway,
  matrixGateway,
  webPushGateway,
];

/** The kinds that a program knows: what is checked, shown and sent comes from here. */
export interface ContactList {
  readonly kinds: readonly ContactKind[];
  readonly gateways: readonly GatewayKind[];
  /** undefined for a kind of a newer program. */
  find(kind: string): ContactKind | undefined;
  gateway(kind: string): GatewayKind | undefined;
  /** Each field of any kind, as a request may carry it. */
  readonly fields: Readonly<Record<string, z.ZodOptional<z.ZodType<string>>>>;
  readonly gatewayFields: Readonly<Record<string, z.ZodOptional<z.ZodType<string>>>>;
}

/** Throws where two kinds are called the same, or one is served by nobody known. */
export function contactList(
  kinds: readonly ContactKind[],
  gateways: readonly GatewayKind[],
): ContactList {
  const byKind = new Map(kinds.map((each) => [each.kind, each]));
  const byGateway = new Map(gateways.map((each) => [each.kind, each]));
  const served = kinds.every(({ gateway }) => gateway === null || byGateway.has(gateway));
  if (byKind.size < kinds.length || byGateway.size < gateways.length || !served)
    throw new Error("two kinds of contact are called the same, or one has no gateway");
  return {
    kinds,
    gateways,
    find: (kind) => byKind.get(kind),
    gateway: (kind) => byGateway.get(kind),
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

/** The program's own. */
export const contactKindList = contactList(contactKinds, gatewayKinds);
