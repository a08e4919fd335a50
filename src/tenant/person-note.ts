import type { Reader } from "../ground/store/store.ts";
import { findContact } from "../out/contacts/contacts.ts";
import { usableContacts } from "../out/contacts/notify.ts";
import type { ContactSender } from "../out/paging/send.ts";
import type { DirectMessage } from "../out/services/direct-message.ts";

/** What one silent message says. */
export type NoteText = Pick<DirectMessage, "id" | "title" | "lines" | "link">;

/**
 * Sends one silent message to all contacts of a person whose kind `takes` it. `told`: one took it; `later`: none did, and another
 * attempt may help; `never`: none will.
 */
export async function tellPerson(
  { store, contacts }: { store: Reader; contacts: ContactSender },
  account: string,
  { note, takes }: { note: NoteText; takes(kind: string): boolean },
): Promise<"told" | "later" | "never"> {
  const rest = { level: 0, ack: null, code: null, events: [], said: null } as const;
  const message: DirectMessage = { purpose: "note", ...note, ...rest };
  const ways = usableContacts(store, account).filter(({ kind }) => takes(kind));
  const sent = await Promise.all(
    ways.map(async ({ id }) => {
      const contact = findContact(store, id);
      return contact === null ? null : (await contacts.send(contact, message)).verdict.kind;
    }),
  );
  if (sent.includes("delivered")) return "told";
  return sent.includes("later") ? "later" : "never";
}
