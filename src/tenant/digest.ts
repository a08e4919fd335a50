import { Zone } from "../core/oncall/zone.ts";
import { type Clock, unixSeconds } from "../ground/kit/clock.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import type { Log } from "../ground/kit/log.ts";
import type { Slices } from "../ground/kit/slices.ts";
import { namedClock } from "../ground/kit/wall-time.ts";
import type { Store } from "../ground/store/store.ts";
import { findContact } from "../out/contacts/contacts.ts";
import { findIntegration } from "../out/outbox/destination.ts";
import type { EventNames } from "../out/outbox/event-names.ts";
import { digestEvent } from "../out/outbox/notices.ts";
import { linkBase } from "../out/paging/capability.ts";
import type { DirectMessage } from "../out/services/direct-message.ts";
import { clockOfPerson, tenantZone } from "../people/reader-clock.ts";
import {
  type DigestSent,
  type DigestSettings,
  digestSettings,
  digestTimes,
  digestTried,
} from "../records/numbers/digest.ts";
import { digestText } from "../records/numbers/digest-text.ts";
import type { Adviser } from "./advice.ts";
import type { Outbox } from "./outbox.ts";
import type { Job } from "./scheduler.ts";

/** The weekly message about the week before. It is sent at least once: a crash between its sending and the note of it sends it again. */

interface DigestDeps {
  store: Store;
  clock: Clock;
  log: Log;
  slices: Slices;
  advice: Adviser;
  outbox: Pick<Outbox, "contacts" | "rooms">;
  publicUrl: string;
  /** Whether the clock is known to be right. */
  ready(): boolean;
}

/** Seconds between two attempts, and for how long they go on. */
const AGAIN = 300;
const LATEST = 86_400;

export function digestJob(deps: DigestDeps): Job {
  const { store, log, ready } = deps;
  return {
    name: "digest",
    wokenBy: ["digest", "clock"],
    async run(now) {
      const settings = digestSettings(store);
      if (!settings.enabled) return null;
      if (!ready()) return (now + 1) * 1000;
      const { latest: slot, next } = digestTimes(new Zone(tenantZone(store)), settings, now);
      if (slot <= settings.done) return next * 1000;
      const { error, isFinal } = await sendDigest(deps, settings, slot);
      const isDone = error === null || isFinal || now >= slot + LATEST;
      if (error !== null) log.warn({ error, isDone }, "the weekly digest could not be sent");
      store.write((tx) => digestTried(tx, { slot, error, isDone }));
      return (isDone ? next : now + AGAIN) * 1000;
    },
  };
}

/** Sends the latest whole week's digest now, whenever it is due. Throws 409 where nobody is named. */
export async function digestNow(deps: DigestDeps): Promise<DigestSent> {
  const settings = digestSettings(deps.store);
  if (settings.to === null)
    throw new ServiceError(
      "digest_off",
      "The digest has no channel or contact yet: box digest set names one.",
    );
  const { error } = await sendDigest(deps, settings, unixSeconds(deps.clock));
  return { ok: error === null, error };
}

interface Tried {
  /** null: it was taken. */
  error: string | null;
  /** Another attempt can't help. */
  isFinal: boolean;
}

async function sendDigest(deps: DigestDeps, { to }: DigestSettings, at: number): Promise<Tried> {
  if (to === null) return { error: "it goes nowhere", isFinal: true };
  return "contact" in to ? toContact(deps, to.contact, at) : toRoom(deps, to.integration, at);
}

async function textFor(
  { store, slices, advice }: DigestDeps,
  at: number,
  clock: { zone: string; label: string },
) {
  const given = await advice.now();
  return digestText({ reader: store, slices }, { at, clock, advice: given.advice });
}

const idOf = (at: number): string => `digest-${at}`;

async function toContact(deps: DigestDeps, id: string, at: number): Promise<Tried> {
  const { store, outbox } = deps;
  const contact = findContact(store, id);
  if (contact === null) return { error: "its contact is gone", isFinal: true };
  if (contact.state !== "verified" && contact.state !== "failing")
    return { error: "its contact isn't confirmed", isFinal: true };
  const text = await textFor(deps, at, clockOfPerson(store, contact.accountId));
  const rest = { level: 0, ack: null, code: null, events: [], said: null } as const;
  const message: DirectMessage = {
    purpose: "note",
    id: idOf(at),
    ...text,
    link: linkTo(deps),
    ...rest,
  };
  return triedOf((await outbox.contacts.send(contact, message)).verdict);
}

async function toRoom(deps: DigestDeps, id: string, at: number): Promise<Tried> {
  const { store, outbox } = deps;
  const channel = findIntegration(store, id);
  if (channel === null) return { error: "its channel is gone", isFinal: true };
  if (channel.enabled === 0) return { error: "its channel is off", isFinal: true };
  const text = await textFor(deps, at, namedClock(tenantZone(store)));
  const said: EventNames = { note: { ...text, link: linkTo(deps) } };
  const eventId = idOf(at);
  const about = { projectId: channel.project_id, id: eventId, title: text.title, at };
  const message = {
    eventId,
    event: "digest",
    body: digestEvent(store, about),
    said: JSON.stringify(said),
    signedAt: unixSeconds(deps.clock),
  };
  return triedOf((await outbox.rooms.send(channel, message)).verdict);
}

function linkTo({ store, publicUrl }: DigestDeps): string | null {
  const base = linkBase(store, publicUrl);
  return base === null ? null : `${base}/numbers`;
}

const triedOf = (verdict: { kind: string; error?: string }): Tried =>
  verdict.kind === "delivered"
    ? { error: null, isFinal: true }
    : { error: verdict.error ?? verdict.kind, isFinal: verdict.kind === "never" };
