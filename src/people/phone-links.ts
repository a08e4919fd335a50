import { LRUCache } from "lru-cache";
import { atMost } from "../ground/kit/at-most.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import { base62Secret, hexSecret, sameSecret } from "../ground/kit/ids.ts";
import type { Reader } from "../ground/store/store.ts";
import { isSession } from "./sessions.ts";

/**
 * Signs in a phone from a browser that is signed in. The browser shows a code, the phone opens it and shows two digits,
 * the person types the digits into the browser, and the phone is signed in. All state is in memory; after a restart
 * both show that it is over.
 */
export type PhoneLinks = ReturnType<typeof createPhoneLinks>;

export interface Desk {
  accountId: string;
  sessionId: string;
}

export type PhoneLinkState =
  | { state: "shown"; code: string; until: number }
  | { state: "asked"; address: string; agent: string; left: number; until: number }
  | { state: "answered" | "in" | "dead" };

export type PhoneSees = { accountId: string } & (
  | { state: "asked"; digits: string }
  | { state: "answered" }
);

interface Link extends Desk {
  code: string;
  /** Monotonic milliseconds. */
  until: number;
  state: PhoneLinkState["state"];
  secret: string;
  digits: string;
  left: number;
  phone: { address: string; agent: string };
}

const GOOD_MS = 5 * 60_000;
/** After the answer the phone has at least this long to sign in. */
const ENTER_MS = 60_000;
const TRIES = 3;
/** Links at one time. */
const MOST = 1000;

export function createPhoneLinks(reader: Reader) {
  const { clock, random } = reader;
  const links = new LRUCache<string, Link>(atMost(MOST));
  /** A link is also over when its browser was signed out. */
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
    /** A new code for a browser, 48 hex characters. It replaces the account's last one. */
    make(desk: Desk): string {
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
    /** The state of the browser's link; null where it has none. */
    deskSees(sessionId: string): PhoneLinkState | null {
      const link = ofDesk(sessionId);
      if (link === null) return null;
      const { state, code, left } = link;
      if (state === "shown") return { state, code, until: untilOf(link) };
      if (state === "asked") return { state, ...link.phone, left, until: untilOf(link) };
      return { state };
    },
    /** The phone opens a code and gets a secret; null for an invalid code, or one that another phone opened. */
    claim(code: string, phone: { address: string; agent: string }): string | null {
      const link = live((one) => one.state === "shown" && sameSecret(one.code, code));
      if (link === null) return null;
      const digits = String(random.bytes(4).readUInt32BE() % 100).padStart(2, "0");
      const secret = base62Secret(random);
      Object.assign(link, { state: "asked", secret, digits, phone });
      return secret;
    },
    /** Whether the digits typed into the browser are right. The third wrong ones end the link. */
    answer(sessionId: string, digits: string): boolean {
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
    cancel(sessionId: string) {
      const link = ofDesk(sessionId);
      if (link !== null) links.delete(link.accountId);
    },
    /** What the phone with this secret shows; null where its link is over. */
    phoneSees(secret: string): PhoneSees | null {
      const link = ofPhone(secret);
      if (link === null) return null;
      const { state, digits, accountId } = link;
      if (state === "asked") return { state, digits, accountId };
      return state === "answered" ? { state, accountId } : null;
    },
    /** The account whose session the phone gets, once; null before the browser has answered, or afterwards. */
    enter(secret: string): string | null {
      const link = ofPhone(secret);
      if (link?.state !== "answered") return null;
      link.state = "in";
      return link.accountId;
    },
  };
}
