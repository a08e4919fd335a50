import type { ContactRow } from "../../../src/out/contacts/contacts.ts";
import type { MessageName } from "../../../src/out/paging/message-name.ts";
import type { ContactSender } from "../../../src/out/paging/send.ts";
import type { DirectMessage, DirectSent } from "../../../src/out/services/direct-message.ts";
import type { Seeded } from "../seeded.ts";

/** What a contact's service does with a message. */
export const moods = [
  "well",
  "slow",
  "down",
  "crowded",
  "ours",
  "badlogin",
  "refuses",
  "gone",
] as const;
export type Mood = (typeof moods)[number];

/** One message as its service saw it. Times in milliseconds of the machine's monotonic clock. */
export interface Call {
  contact: string;
  account: string;
  kind: string;
  purpose: DirectMessage["purpose"];
  /** As the message names them; of a page, those that they are told under now. */
  alerts: number[];
  /** What stands in it to be answered by; null in what is no page. */
  handle: string | null;
  /** What a device's receipt names. */
  name: MessageName | null;
  began: number;
  ended: number | null;
  took: boolean;
  /** Whether the box can have written down how it ended. */
  written: boolean;
}

export interface Services {
  readonly sender: ContactSender;
  readonly calls: readonly Call[];
  /** Calls that haven't been answered. */
  readonly held: number;
  mood(contact: string, mood: Mood): void;
  /** When the next slow answer comes, on the monotonic clock. */
  nextEnd(): number | null;
  /** Answers what is due. */
  answer(): void;
  /** The box is killed: nobody waits for answers any more. */
  cut(): void;
  heal(): void;
  /** All that was answered is written. */
  settled(): void;
}

export function startServices(options: {
  random: Seeded;
  mono(): number;
  /** Looks at each message as it begins. */
  onCall(call: Call): void;
}): Services {
  const { random, mono, onCall } = options;
  const moodOf = new Map<string, Mood>();
  const calls: Call[] = [];
  let held: { at: number; answer: () => void }[] = [];
  let healed = false;

  const outcome = (contact: ContactRow, mood: Mood): DirectSent => {
    if (mood === "down") return { verdict: { kind: "later", error: "refused" } };
    if (mood === "crowded") {
      const retryAfterMs = 1000 * (5 + random.below(115));
      return { verdict: { kind: "later", error: "http 429", retryAfterMs } };
    }
    if (mood === "ours") return { verdict: { kind: "later", error: "no settings" }, ours: true };
    if (mood === "badlogin")
      return { verdict: { kind: "later", error: "http 401" }, ours: true, refused: true };
    if (mood === "refuses") return { verdict: { kind: "never", error: "http 400" } };
    if (mood === "gone") {
      moodOf.delete(contact.id);
      return { verdict: { kind: "never", error: "http 410", disable: true } };
    }
    const verdict = { kind: "delivered", status: 200 } as const;
    return contact.kind === "telegram" ? { verdict, ref: `m${calls.length}` } : { verdict };
  };

  const send = (
    contact: ContactRow,
    message: DirectMessage,
    { name = null }: { name?: MessageName | null } = {},
  ): Promise<DirectSent> => {
    const call: Call = {
      contact: contact.id,
      account: contact.accountId,
      kind: contact.kind,
      purpose: message.purpose,
      began: mono(),
      ended: null,
      took: false,
      written: false,
      name,
      handle: message.ack?.handle ?? null,
      alerts: message.events.map(({ alert_id }) => Number(alert_id)),
    };
    onCall(call);
    calls.push(call);
    const mood = healed ? "well" : (moodOf.get(contact.id) ?? "well");
    const end = () => {
      const sent = outcome(contact, mood);
      call.ended = mono();
      call.took = sent.verdict.kind === "delivered";
      return sent;
    };
    if (mood !== "slow") return Promise.resolve(end());
    return new Promise((resolve) => {
      held.push({ at: mono() + 500 + random.below(9000), answer: () => resolve(end()) });
    });
  };

  return {
    sender: { send, sendTo: () => Promise.reject(new Error("nobody is invited")) },
    calls,
    get held() {
      return held.length;
    },
    mood: (contact, mood) => void moodOf.set(contact, mood),
    nextEnd: () => (held.length === 0 ? null : Math.min(...held.map(({ at }) => at))),
    answer() {
      const due = held.filter(({ at }) => at <= mono());
      held = held.filter(({ at }) => at > mono());
      for (const { answer } of due) answer();
    },
    cut() {
      held = [];
    },
    heal() {
      healed = true;
    },
    settled() {
      for (const call of calls.slice(-200)) if (call.ended !== null) call.written = true;
    },
  };
}
