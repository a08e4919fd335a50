import { type AnswerVerb, answerPage, answerWords } from "../alerts/answer.ts";
import { findContact, openContact } from "../contacts/contacts.ts";
import { unixSeconds } from "../kit/clock.ts";
import { rightOf } from "../paging/right.ts";
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
export interface AnswerTold {
  isTaken: boolean;
  words: string;
}

const NOT_YOURS = "This page is somebody else's, and nobody here is known by your account.";

/** Acts as the person whose page it was. Throws where it can't be written. */
export async function answerByHandle(
  { store, sealer }: ListenDeps,
  { handle, verb, kind, isAt }: HandleAnswer,
): Promise<AnswerTold> {
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
