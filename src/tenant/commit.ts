import type { Source } from "../core/projects/sources.ts";
import type { IngestAnswer } from "../in/ingest/arrival.ts";
import type { Settle } from "../in/ingest/batcher.ts";
import { eventChars, type IngestEvent } from "../in/ingest/event.ts";
import type { Tenant } from "./tenant.ts";

/** Events and characters that are handed over at once: what waits for its commit is bounded. */
const EVENTS = 1000;
const CHARS = 4 * 1024 * 1024;

/** What was made of something that a sender sent. */
interface Sendings {
  events: readonly IngestEvent[];
  /** An event's own id by its place, of senders that send again what they have sent: the same one is taken once. */
  ids?: readonly (string | null)[];
  /** What of it is no event, and why. */
  rejected: readonly { reason: string }[];
}

/** Whose they are; `isLast` for who is refused after everybody else. */
interface Whose {
  tenant: Tenant;
  source: Source;
  isLast?: boolean | undefined;
}

/**
 * Commits what is new of the events in their order, and notes what was rejected; `sent` is what a person is shown of
 * that. Throws what refused a part: those before it are committed.
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
 * Commits the events in their order, a part after the other; how many alerts they ended. Throws what refused a part:
 * those before it are committed, and a sender that repeats the request changes nothing of them that has a name.
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
