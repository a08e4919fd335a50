import type { Source } from "../core/projects/sources.ts";
import type { IngestAnswer } from "../in/ingest/arrival.ts";
import type { Settle } from "../in/ingest/batcher.ts";
import { eventChars, type IngestEvent } from "../in/ingest/event.ts";
import type { Tenant } from "./tenant.ts";

/** Events and characters in one part. This limits what waits for a commit. */
const EVENTS = 1000;
const CHARS = 4 * 1024 * 1024;

/** The decoded content of a request. */
interface Sendings {
  events: readonly IngestEvent[];
  /** By place: the event's own id, for senders that send events again. An event with a known id is skipped. */
  ids?: readonly (string | null)[];
  /** The parts that are no events, with the reasons. */
  rejected: readonly { reason: string }[];
}

/** The source. `isLast`: its events are refused only after all others. */
interface Whose {
  tenant: Tenant;
  source: Source;
  isLast?: boolean | undefined;
}

/**
 * Commits the new events in their order, and notes what was rejected; `sent` is the part of the request that people are
 * shown then. Throws where a part is refused; earlier parts stay committed.
 */
export async function commitDecoded(
  { tenant, source, isLast }: Whose,
  { events, ids, rejected }: Sendings,
  sent: string,
): Promise<{ accepted: number; resolved: number; rejected: number }> {
  const { seen } = tenant.ingest;
  const isNew = (i: number) => !seen.has(source.id, ids?.[i] ?? null);
  const fresh = ids === undefined ? events : events.filter((_, i) => isNew(i));
  const resolved = await commitEvents({ tenant, source, isLast }, fresh);
  for (const id of ids ?? []) seen.add(source.id, id);
  const [first] = rejected;
  if (first !== undefined)
    tenant.ingest.refused.note(
      source,
      { code: "invalid_request", message: first.reason, body: sent },
      rejected.length,
    );
  return { accepted: events.length, resolved, rejected: rejected.length };
}

/**
 * Commits the events in parts, in order. Returns how many alerts they ended. Throws where a part is refused; earlier
 * parts stay committed, and if the sender repeats the request, their events with a dedup key change nothing.
 */
async function commitEvents(
  { tenant, source, isLast }: Whose,
  events: readonly IngestEvent[],
): Promise<number> {
  let resolved = 0;
  for (const part of parts(events)) {
    const answers = await new Promise<readonly IngestAnswer[]>((resolve, reject) => {
      const settle: Settle = (error, committed) =>
        committed === null ? reject(error) : resolve(committed);
      tenant.ingest.submit(source, part, settle, isLast);
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
