import * as z from "zod";
import { Zone } from "../../core/oncall/zone.ts";
import { invalid } from "../../ground/kit/errors.ts";
import { boolean, integer, text } from "../../ground/kit/fields.ts";
import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { findContact } from "../../out/contacts/contacts.ts";
import { findIntegration } from "../../out/outbox/destination.ts";
import { channels, contactKindList } from "../../out/services/list.ts";
import { tenantZone } from "../../people/reader-clock.ts";
import { beginOf, localDay, mondayOf } from "./days.ts";

/** A message a week about the week before: what is set, and when it is due. Times in Unix seconds. */

const to = z.union(
  [
    z.strictObject({ contact: text(64, 1).meta({ description: "A person's contact." }) }),
    z.strictObject({ integration: text(64, 1).meta({ description: "A channel that has words." }) }),
  ],
  { error: "must be {contact} or {integration}" },
);

const MONDAY = 1;
const SIX = 6;

export const digestWrite = z
  .strictObject({
    enabled: boolean,
    to: to.nullable().default(null).meta({ description: "Required if `enabled` is true." }),
    weekday: integer(1, 7).default(MONDAY).meta({ description: "1 is Monday." }),
    hour: integer(0, 23).default(SIX).meta({ description: "On the tenant's clock." }),
  })
  .meta({ id: "DigestWrite" });
type DigestWrite = z.output<typeof digestWrite>;

export const digestAnswer = z
  .object({
    enabled: z.boolean(),
    to: to.nullable(),
    weekday: z.int(),
    hour: z.int(),
    next: z.int().nullable().meta({ description: "When it is sent next; null: it is off." }),
    sent_at: z.int().nullable().meta({ description: "When the service last accepted one." }),
    error: z.string().nullable().meta({
      description: "Why the latest attempt failed; null: it didn't.",
    }),
  })
  .meta({ id: "Digest" });
export type DigestAnswer = z.output<typeof digestAnswer>;

/** How an attempt went. */
export const digestSent = z.object({
  ok: z.boolean(),
  error: z.string().nullable().meta({ description: "Why it wasn't taken." }),
});
export type DigestSent = z.output<typeof digestSent>;

/** What is stored. `done`: what was due until then is sent, or was given up. */
export interface DigestSettings extends DigestWrite {
  done: number;
  sent_at: number | null;
  error: string | null;
}

const OFF: DigestSettings = {
  enabled: false,
  to: null,
  weekday: MONDAY,
  hour: SIX,
  done: 0,
  sent_at: null,
  error: null,
};

export function digestSettings(reader: Reader): DigestSettings {
  const kept = getMeta(reader, "digest");
  return kept === undefined ? OFF : (JSON.parse(String(kept)) as DigestSettings);
}

const keep = (tx: Tx, settings: DigestSettings): void =>
  setMeta(tx, "digest", JSON.stringify(settings));

export function readDigest(reader: Reader, now: number): DigestAnswer {
  const { done, ...settings } = digestSettings(reader);
  const zone = new Zone(tenantZone(reader));
  return { ...settings, next: settings.enabled ? digestTimes(zone, settings, now).next : null };
}

/** What was due before is not sent any more. Throws 400 where it is for nothing that can read it. */
export function writeDigest(tx: Tx, wanted: DigestWrite): DigestAnswer {
  const fault = faultOf(tx, wanted);
  if (fault !== null) throw invalid([{ field: "/to", reason: fault }]);
  const { sent_at } = digestSettings(tx);
  keep(tx, { ...wanted, done: tx.at, sent_at, error: null });
  tx.note({ topic: "digest" });
  return readDigest(tx, tx.at);
}

function faultOf(reader: Reader, { enabled, to: whom }: DigestWrite): string | null {
  if (whom === null) return enabled ? "is needed where the digest is enabled" : null;
  if ("contact" in whom) {
    const contact = findContact(reader, whom.contact);
    if (contact === null) return "names no contact";
    if (contact.state === "unverified" || contact.state === "off")
      return "names a contact that isn't confirmed, or is off";
    return canHoldDigest(contact.kind) ? null : "names a contact whose messages are too short";
  }
  const channel = findIntegration(reader, whom.integration);
  if (channel === null || channel.relay !== 0) return "names no channel";
  return hasWords(channel) ? null : "names a channel that has no words for people";
}

/** Whether it can go to a channel of this type: not to one whose body is for a program. */
export function hasWords({ type }: { type: string }): boolean {
  const kind = channels.find(type);
  return kind !== undefined && kind.bodyAsIs !== true;
}

/** Whether it can go to a contact of this kind: not to texts and calls. */
export const canHoldDigest = (kind: string): boolean =>
  kind === "email" || contactKindList.find(kind)?.notes === true;

/** The latest time at which one was due, at or before `now`, and the next one. Pure. */
export function digestTimes(
  zone: Zone,
  { weekday, hour }: Pick<DigestWrite, "weekday" | "hour">,
  now: number,
) {
  const monday = mondayOf(localDay(zone, now));
  const times = [-1, 0, 1].map((week) =>
    zone.first((monday + 7 * week + weekday - 1) * 86_400 + hour * 3600),
  );
  const latest = times.findLast((at) => at <= now) ?? 0;
  return { latest, next: times.find((at) => at > now) ?? latest + 7 * 86_400 };
}

/** The five weeks that end with the Monday before `at`: what is told, and the four that it is told beside. */
export function weeksToTell(zone: Zone, at: number) {
  const monday = mondayOf(localDay(zone, at));
  const mondays = [-35, -28, -21, -14, -7].map((days) => monday + days);
  const [from, last, to] = [monday - 35, monday - 7, monday].map((day) => beginOf(zone, day));
  return { mondays, from: from ?? 0, last: last ?? 0, to: to ?? 0 };
}

/** One that was due at `slot` was taken, or is given up; or is tried again, where it isn't done. */
export function digestTried(
  tx: Tx,
  { slot, error, isDone }: { slot: number; error: string | null; isDone: boolean },
): void {
  const settings = digestSettings(tx);
  keep(tx, {
    ...settings,
    done: isDone ? Math.max(settings.done, slot) : settings.done,
    sent_at: error === null ? tx.at : settings.sent_at,
    error,
  });
}
