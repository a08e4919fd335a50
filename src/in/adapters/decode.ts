import { eventChars } from "../ingest/event.ts";
import { type Adapter, type Decoded, type InRequest, UnreadableBody } from "./adapter.ts";

/** What may be made of the longest body: a label that stands before ten thousand lines is in each of their events. */
const MOST_CHARS = 64 * 1024 * 1024;

/** What a request comes to. Throws UnreadableBody, also where its events are many times what came. */
export function decodeRequest(adapter: Adapter, request: InRequest): Decoded {
  const decoded = adapter.decode(request);
  let chars = 0;
  for (const event of decoded.events) {
    chars += eventChars(event);
    if (chars > MOST_CHARS) throw new UnreadableBody({ why: "too_large" });
  }
  return decoded;
}
