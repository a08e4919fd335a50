import type { IngestAnswer } from "../../ingest/arrival.ts";
import { eventChars, type IngestEvent } from "../../ingest/event.ts";
import type { Source } from "../../projects/sources.ts";
import type { Tenant } from "../../tenant/tenant.ts";

/** Events and characters that are handed over at once: what waits for its commit is bounded. */
const EVENTS = 1000;
const CHARS = 4 * 1024 * 1024;

/**
 * Commits the events in their order, a part after the other; how many alerts they ended. Throws what refused a part:
 * those before it are committed, and a sender that repeats the request changes nothing of them that has a name.
 */
export async function commitEvents(
  { tenant, source }: { tenant: Tenant; source: Source },
  events: readonly IngestEvent[],
): Promise<number> {
  let resolved = 0;
  for (const part of parts(events)) {
    const answers = await new Promise<readonly IngestAnswer[]>((resolve, reject) => {
      tenant.ingest.submit(source, part, (error, committed) =>
        committed === null ? reject(error) : resolve(committed),
      );
    });
    await tenant.heartbeats.overhear(source, part);
    for (const answer of answers) resolved += answer.resolved ?? 0;
  }
  return resolved;
}

function* parts(events: readonly IngestEvent[]): Generator<readonly IngestEvent[]> {
  let from = 0;
  let chars = 0;
  for (const [i, event] of events.entries()) {
    const size = eventChars(event);
    if (i > from && (i - from === EVENTS || chars + size > CHARS)) {
      yield events.slice(from, i);
      from = i;
      chars = 0;
    }
    chars += size;
  }
  if (from < events.length) yield events.slice(from);
}
