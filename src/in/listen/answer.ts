import { type AnswerVerb, answerPage, answerWords, whoseWords } from "../../core/alerts/answer.ts";
import { changeEach } from "../../core/alerts/bulk.ts";
import { holderOf, livingAlert } from "../../core/alerts/holder.ts";
import { auditedStore } from "../../ground/audit/record.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { findContact, openContact } from "../../out/contacts/contacts.ts";
import { accountAt } from "../../out/contacts/known.ts";
import { rightOf } from "../../out/paging/right.ts";
import type { ListenDeps } from "./listener.ts";

/** An answer to a page, by the page's handle. */
interface HandleAnswer {
  handle: string;
  verb: AnswerVerb;
  /** The kind of contact to which the page must have been sent. */
  kind: string;
  /** Whether the answer comes from the page's own address; absent where only that address can know the handle. */
  isAt?: (address: string) => boolean;
}

/** The result, and the text for the person who answered. */
export interface AnswerResult {
  isTaken: boolean;
  words: string;
}

const NOT_YOURS = "This page is somebody else's, and no account here has yours as a contact.";

/** Acts as the person who was paged. Throws where it can't be written. */
export async function answerByHandle(
  { store, sealer }: ListenDeps,
  { handle, verb, kind, isAt }: HandleAnswer,
): Promise<AnswerResult> {
  const now = unixSeconds(store.clock);
  const right = rightOf(store, now, { handle });
  if (right === null || right.via !== kind)
    return { isTaken: false, words: answerWords({ kind: "unknown" }, now) };
  if (isAt !== undefined) {
    const contact = findContact(store, right.contactId);
    const { address = "" } = (contact && openContact(sealer, contact)) ?? {};
    if (address === "" || !isAt(address)) return { isTaken: false, words: NOT_YOURS };
  }
  const answered = await answerPage(store, { handle }, { verb });
  return { isTaken: answered.kind === "answered", words: answerWords(answered, now) };
}

/** Calls `act` for each, one after the other; an error doesn't stop the rest. Throws the first error at the end. */
export async function each<T>(all: readonly T[], act: (one: T) => Promise<unknown>): Promise<void> {
  const errors: unknown[] = [];
  for (const one of all) await act(one).catch((error) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

/**
 * Acts as the person who pressed a button in a chat room: the account with that verified contact. Others get a text
 * that says how to add one. Throws where it can't be written.
 */
export async function answerInRoom(
  { store, sealer }: ListenDeps,
  { alert, kind, presser }: { alert: string; kind: "telegram" | "slack"; presser: string },
): Promise<AnswerResult> {
  const now = unixSeconds(store.clock);
  const accountId = accountAt(store, sealer, { kind, address: presser });
  if (accountId === null)
    return {
      isTaken: false,
      words: `Nobody at this box is known by your account. To be: box contact add ${kind} ${presser}`,
    };
  const id = livingAlert(store, Number(alert));
  const what = { verb: "acknowledge", accountId, via: kind } as const;
  const author = { accountId, via: "page", hint: kind, address: "" } as const;
  const audited = auditedStore(store, {
    ...author,
    verb: "answerInRoom",
    target: { kind: "alert", id: "" },
  });
  const [done] = await changeEach(audited, [String(id)], what);
  if (done?.ok !== true) return { isTaken: false, words: answerWords({ kind: "unknown" }, now) };
  return { isTaken: true, words: whoseWords(holderOf(store, id), now) };
}
