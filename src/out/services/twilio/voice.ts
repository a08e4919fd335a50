import { escapeMarkup } from "../../../ground/kit/html.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import type { DirectMessage, DirectSent } from "../direct-message.ts";
import { escapeWithin } from "../texts.ts";
import { orderAtTwilio, type PhoneMessage, speakable } from "./api.ts";

const RING_SECONDS = "30";
const EVENTS = ["initiated", "ringing", "answered", "completed"] as const;

/** Places a call that speaks the message. Ordered is not answered, nor is answered taken. `ref` is the call's SID. */
export async function placeCall(
  via: Via,
  /** `keysUrl`: where Twilio says which key was pressed; null: none is asked for. */
  request: PhoneMessage & { keysUrl: string | null },
): Promise<DirectSent> {
  const { gateway, to, message, statusUrl, keysUrl, since } = request;
  const told = EVENTS.map((event) => ["StatusCallbackEvent", event] as const);
  return orderAtTwilio(via, gateway, {
    resource: "Calls",
    form: [
      ["To", to],
      ["From", gateway.from ?? ""],
      ["Twiml", callTwiml(message, keysUrl)],
      ["Timeout", RING_SECONDS],
      ...(statusUrl === null ? [] : ([["StatusCallback", statusUrl], ...told] as const)),
    ],
    isIt: () => true,
    since,
  });
}

/** Escaped, in characters. TwiML in a request has 4,000; words stand in it twice at most. */
const SPEECH = 1_200;
const LONGEST_ACTION = 1_000;
/** What a person on the phone listens to. */
const WORDS = 400;

const KEYS = "Press 4 to acknowledge, 6 to resolve, 9 to hear this again.";

/** What is spoken, as TwiML; asks for a key where there is something to take and somebody to tell. */
export function callTwiml(message: DirectMessage, keysUrl: string | null): string {
  const say = `<Say>${spoken(message)}</Say>`;
  const action = keysUrl === null || message.ack === null ? "" : escapeMarkup(keysUrl);
  if (action === "" || action.length > LONGEST_ACTION)
    return `<Response>${say}<Pause length="1"/>${say}</Response>`;
  const gather = `<Gather numDigits="1" timeout="10" method="POST" action="${action}">`;
  return `<Response>${gather}${say}<Say>${KEYS}</Say></Gather><Say>No key was pressed.</Say></Response>`;
}

/** What is said after a key, as TwiML: one sentence, and the call ends. */
export function closingTwiml(sentence: string): string {
  return `<Response><Say>${readable(sentence)}</Say></Response>`;
}

function spoken({ title, lines, code }: DirectMessage): string {
  const words = code === null ? [title, ...lines] : [`Your code is ${code}`, `Again: ${code}`];
  return readable(words.filter(Boolean).join(". "));
}

/** Digit by digit, since `4711` is no amount. */
function readable(text: string): string {
  const words = speakable(text, WORDS)
    .replace(/\s*·\s*/g, ", ")
    .replace(/\d(?=\d)/g, "$& ");
  return escapeWithin(words, SPEECH, escapeMarkup);
}
