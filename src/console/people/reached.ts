import type { Contact } from "../../contacts/contact.ts";
import { listContacts } from "../../contacts/contacts.ts";
import type { PageCall } from "../screen.ts";
import { span } from "../ui/times.ts";

/** How long what a person sent back stands for a way that rings, in seconds. */
const WEEK = 7 * 86_400;

/** Whether somebody can be reached: a shape, and the same in words. */
export interface ReachedBy {
  /** ● sent something back within a week, ◐ has a way that nobody has proved since, ○ none. */
  dot: "shown" | "accepted" | "none";
  word: string;
}

/** When a person last proved that it reaches them: the code that arrived came back. */
export const confirmedAt = ({ verified_at }: Contact): number | null => verified_at;

export async function reached(
  { tenant, now }: PageCall,
  { id }: { id: string },
): Promise<ReachedBy> {
  const contacts = listContacts(tenant.store, id);
  const works = contacts.filter(({ state }) => state === "verified");
  if (works.length > 0) {
    const kinds = [...new Set(works.map(({ kind }) => kind))].join(", ");
    const last = Math.max(...works.map((one) => confirmedAt(one) ?? 0));
    if (now - last <= WEEK) return { dot: "shown", word: kinds };
    return { dot: "accepted", word: `${kinds}: not confirmed for ${span(now - last)}` };
  }
  const apps = await tenant.devices.list(id);
  if (apps.length > 0) return { dot: "accepted", word: "the box app" };
  if (contacts.length === 0) return { dot: "none", word: "nothing rings" };
  const isFailing = contacts.some(({ state }) => state === "failing");
  return isFailing
    ? { dot: "accepted", word: "no way that works" }
    : { dot: "none", word: "no way that is used" };
}
