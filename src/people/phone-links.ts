import { LRUCache } from "lru-cache";
import { unixSeconds } from "../ground/kit/clock.ts";
import { base62Secret, hexSecret, sameSecret } from "../ground/kit/ids.ts";
import type { Reader } from "../ground/store/store.ts";
import { isSession } from "./sessions.ts";

/**
 * Signing in on a phone from a desk that is signed in: the desk shows a code, the phone comes with it and shows two digits, the
 * desk types them, and the phone is in. All of it is in memory: a restart ends it, and both are told.
 */
export interface PhoneLinks {
  /** A new code for a desk, 48 hex characters, in place of the account's last one. */
  make(desk: Desk): string;
  /** How the desk's link stands; null where it has none. */
  deskSees(sessionId: string): DeskSees | null;
  /** The phone comes with a code: its secret from now on; null for a code that isn't good, or that another came with. */
  claim(code: string, phone: { address: string; agent: string }): string | null;
  /** The digits that the desk typed: whether they are right; the third wrong ones end the link. */
  answer(sessionId: string, digits: string): boolean;
  cancel(sessionId: string): void;
  /** What the phone with this secret shows; null where its link is over. */
  phoneSees(secret: string): PhoneSees | null;
  /** Whose session the phone gets, once; null while the desk hasn't answered, or no more. */
  enter(secret: string): string | null;
}

export interface Desk {
  accountId: string;
  sessionId: string;
}

export type DeskSees =
  | { state: "shown"; code: string; until: number }
  | { state: "asked"; address: string; agent: string; left: number; until: number }
  | { state: "answered" | "in" | "dead" };

export type PhoneSees = { accountId: string } & (
  | { state: "asked"; digits: string }
  | { state: "answered" }
);

interface Link extends Desk {
  code: string;
  /** By the monotonic clock, in milliseconds. */
  until: number;
  state: DeskSees["state"];
  secret: string;
  digits: string;
  left: number;
  phone: { address: string; agent: string };
}

const GOOD_MS = 5 * 60_000;
/** Once it is answered a phone has at least this long to go on. */
const ENTER_MS = 60_000;
const TRIES = 3;
/** Accounts that have one at once. */
const MOST = 1000;

export function createPhoneLinks(reader: Reader): PhoneLinks {
  const { clock, random } = reader;
  const links = new LRUCache<string, Link>({ max: MOST });
  /** Also over when its desk was signed out meanwhile. */
  const live = (is: (link: Link) => boolean): Link | null => {
    const found = [...links.values()].find(is);
    if (found === undefined) return null;
    const isOver =
      clock.mono() >= found.until || !isSession(reader, found.sessionId, unixSeconds(clock));
    if (isOver) links.delete(found.accountId);
    return isOver ? null : found;
  };
  const ofDesk = (sessionId: string) => live((link) => link.sessionId === sessionId);
  const ofPhone = (secret: string) =>
    live((link) => link.secret !== "" && sameSecret(link.secret, secret));
  const untilOf = ({ until }: Link) =>
    unixSeconds(clock) + Math.ceil((until - clock.mono()) / 1000);

  return {
    make(desk) {
      const code = hexSecret(random);
      const phone = { address: "", agent: "" };
      links.set(desk.accountId, {
        ...desk,
        code,
        until: clock.mono() + GOOD_MS,
        state: "shown",
        secret: "",
        digits: "",
        left: TRIES,
        phone,
      });
      return code;
    },
    deskSees(sessionId) {
      const link = ofDesk(sessionId);
      if (link === null) return null;
      const { state, code, left } = link;
      if (state === "shown") return { state, code, until: untilOf(link) };
      if (state === "asked") return { state, ...link.phone, left, until: untilOf(link) };
      return { state };
    },
    claim(code, phone) {
      const link = live((one) => one.state === "shown" && sameSecret(one.code, code));
      if (link === null) return null;
      const digits = String(random.bytes(4).readUInt32BE() % 100).padStart(2, "0");
      const secret = base62Secret(random);
      Object.assign(link, { state: "asked", secret, digits, phone });
      return secret;
    },
    answer(sessionId, digits) {
      const link = ofDesk(sessionId);
      if (link?.state !== "asked") return false;
      const isRight = link.digits === digits;
      link.left -= isRight ? 0 : 1;
      if (isRight) {
        link.state = "answered";
        link.until = Math.max(link.until, clock.mono() + ENTER_MS);
      } else if (link.left === 0) link.state = "dead";
      return isRight;
    },
    cancel(sessionId) {
      const link = ofDesk(sessionId);
      if (link !== null) links.delete(link.accountId);
    },
    phoneSees(secret) {
      const link = ofPhone(secret);
      if (link === null) return null;
      const { state, digits, accountId } = link;
      if (state === "asked") return { state, digits, accountId };
      return state === "answered" ? { state, accountId } : null;
    },
    enter(secret) {
      const link = ofPhone(secret);
      if (link?.state !== "answered") return null;
      link.state = "in";
      return link.accountId;
    },
  };
}
