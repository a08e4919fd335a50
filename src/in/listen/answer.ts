import { type AnswerVerb, answerPage, answerWords, whoseWords } from "../../core/alerts/answer.ts";
import { changeEach } from "../../core/alerts/bulk.ts";
import { livingAlert, whoseIs } from "../../core/alerts/whose.ts";
import { auditedStore } from "../../ground/audit/record.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { findContact, openContact } from "../../out/contacts/contacts.ts";
import { accountAt } from "../../out/contacts/known.ts";
import { rightOf } from "../../out/paging/right.ts";
import type { ListenDeps } from "./listener.ts";

/** Somebody answered a page by its handle. */
export interface HandleAnswer {
  handle: string;
  verb: AnswerVerb;
  /** The kind of contact that the page must have gone to. */
  kind: string;
  /** Whether who answers is at the page's own address; absent where only they could see the handle. */
  isAt?: (address: string) => boolean;
}

/** What came of it, and what whoever answered is told. */
export interface AnswerResult {
  isTaken: boolean;
  words: string;
}

const NOT_YOURS = "This page is somebody else's, and nobody here is known by your account.";

/** Acts as the person whose page it was. Throws where it can't be written. */
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

/** Acts on each in turn: one that can't be written keeps none behind it waiting. Throws the first error at the end. */
export async function each<T>(all: readonly T[], act: (one: T) => Promise<unknown>): Promise<void> {
  const errors: unknown[] = [];
  for (const one of all) await act(one).catch((error) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

/**
 * Acts as whoever pressed a button in a room: the account that has the presser as a verified contact of that kind. Others
 * are told how to become known. Throws where it can't be written.
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
  return { isTaken: true, words: whoseWords(whoseIs(store, id), now) };
}
