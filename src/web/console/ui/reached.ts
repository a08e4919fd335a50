import { confirmedTimes } from "../../../out/contacts/confirmed.ts";
import type { Contact } from "../../../out/contacts/contact.ts";
import { listContacts } from "../../../out/contacts/contacts.ts";
import { wayWord } from "../../../out/services/service-names.ts";
import type { PageCall } from "../screen.ts";
import { span } from "./times.ts";

/** How long what a person or a device sent back stands for a way that rings, in seconds. */
const WEEK = 7 * 86_400;

/** Whether somebody can be reached: a shape, and the same in words. */
interface ReachedBy {
  /** ● something was proved within a week, ◐ there is a way that nothing has proved since, ○ there is none. */
  dot: "shown" | "accepted" | "none";
  word: string;
}

export async function reached(
  { tenant, now }: PageCall,
  { id }: { id: string },
): Promise<ReachedBy> {
  const contacts = listContacts(tenant.store, id);
  const works = contacts.filter(({ state }) => state === "verified");
  if (works.length > 0) {
    const kinds = [...new Set(works.map(({ kind }) => wayWord(kind)))].join(", ");
    const times = confirmedTimes(tenant.store, id);
    const last = Math.max(...works.map((one) => times.get(one.id) ?? 0));
    if (now - last <= WEEK) return { dot: "shown", word: kinds };
    const since = last === 0 ? "never confirmed" : `not confirmed for ${span(now - last)}`;
    return { dot: "accepted", word: `${kinds}: ${since}` };
  }
  const apps = await tenant.devices.list(id);
  if (apps.length > 0) return { dot: "accepted", word: "the box app" };
  if (contacts.length === 0) return { dot: "none", word: "nothing rings" };
  const isFailing = contacts.some(({ state }) => state === "failing");
  return isFailing
    ? { dot: "accepted", word: "no way that works" }
    : { dot: "none", word: "no way that is used" };
}

const STATES: Readonly<Record<Exclude<Contact["state"], "verified">, string>> = {
  failing: "failing: the box keeps trying",
  unverified: "not verified: it isn't used yet",
  off: "off: never used",
};

/** The same of one way. `confirmed`: when it was proved last, if ever. */
export function reachedBy(
  { now }: Pick<PageCall, "now">,
  { state }: Contact,
  confirmed: number | undefined,
): ReachedBy {
  if (state !== "verified") {
    const isUsed = state === "failing";
    return { dot: isUsed ? "accepted" : "none", word: STATES[state] };
  }
  if (confirmed === undefined) return { dot: "accepted", word: "never confirmed" };
  const age = span(now - confirmed);
  return now - confirmed <= WEEK
    ? { dot: "shown", word: `confirmed ${now - confirmed < 60 ? "now" : `${age} ago`}` }
    : { dot: "accepted", word: `not confirmed for ${age}` };
}
