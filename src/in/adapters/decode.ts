import { eventChars } from "../ingest/event.ts";
import { type Adapter, type Decoded, type InRequest, UnreadableBody } from "./adapter.ts";

/** Most characters of all events together: a label before ten thousand lines is repeated in each of their events. */
const MOST_CHARS = 64 * 1024 * 1024;

/** Decodes a request. Throws UnreadableBody, also where the events are many times as long as the body. */
export function decodeRequest(adapter: Adapter, request: InRequest): Decoded {
  const decoded = adapter.decode(request);
  let chars = 0;
  for (const event of decoded.events) {
    chars += eventChars(event);
    if (chars > MOST_CHARS) throw new UnreadableBody({ why: "too_large" });
  }
  return decoded;
}
