import { ServiceError } from "../../ground/kit/errors.ts";
import { inOrder } from "../../ground/kit/gate.ts";
import { mayTell } from "../../ground/store/durable.ts";
import type { ChangesPage, TellingPace } from "../../tenant/change-listeners.ts";
import type { Tenant } from "../../tenant/tenant.ts";

/** Who asks what changed. */
interface ChangesReader {
  /** What its streams are counted by. */
  key: string;
  /** The last answer's `next`; null: none yet. */
  since: string | null;
  signal: AbortSignal;
  /** For which names it is told what changed; for any where absent. */
  watches?: (topic: string) => boolean;
  /** How soon and how often; the contract's where absent. */
  pace?: TellingPace;
}

/** Whether there is something for it. It is told all names then: a list's page goes by which alert it was. */
const concerns = ({ watches }: ChangesReader, { reset, topics }: ChangesPage): boolean =>
  reset || (watches === undefined ? topics.length > 0 : topics.some(watches));

/** What changed, at once where something did, else as soon as something does or after `seconds`. */
export async function changesAfter(
  tenant: Tenant,
  reader: ChangesReader,
  seconds: number,
): Promise<ChangesPage> {
  const { changes, clock } = tenant;
  const { key, since, signal, pace, watches: wakes } = reader;
  const first = changes.after(since);
  if (concerns(reader, first) || seconds === 0) return first;
  await new Promise<void>((resolve) => {
    const hears = (over: boolean) => {
      if (over || concerns(reader, changes.after(since))) done();
    };
    const leave = changes.listen(`poll ${key}`, hears, { pace, wakes });
    const cancel = leave === null ? null : clock.after(seconds * 1000, done);
    function done() {
      leave?.();
      cancel?.();
      signal.removeEventListener("abort", done);
      resolve();
    }
    if (leave === null || signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });
  return changes.after(since);
}

/** A word at least this often, so that nobody takes the stream for dead, in milliseconds. */
const BEAT_MS = 15_000;
/** Bytes that a reader may leave lying before it is let go: it comes back and asks what it missed. */
const MOST_UNREAD = 64 * 1024;

/** The same as a stream of server-sent events, each told once it is durable. Throws 429 where too many are open. */
export function changesStream(tenant: Tenant, reader: ChangesReader): Response {
  const { changes, clock } = tenant;
  const { key, since, signal, pace, watches: wakes } = reader;
  const bytes = new TextEncoder();
  let at = since;
  let said = since;
  let leave: (() => void) | null = null;
  let cancel = () => {};
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const end = () => {
    leave?.();
    cancel();
    signal.removeEventListener("abort", end);
    const open = controller;
    controller = undefined;
    open?.close();
  };
  const inTurn = inOrder(
    () => mayTell(tenant.store),
    () => end(),
  );
  const say = (words: string) =>
    inTurn(() => {
      controller?.enqueue(bytes.encode(words));
      if ((controller?.desiredSize ?? 0) < -MOST_UNREAD) end();
    });
  const catchUp = () => {
    const page = changes.after(at);
    const { reset, topics } = page;
    at = page.next;
    if (!concerns(reader, page)) return;
    said = at;
    const event = reset ? "reset" : "change";
    say(`id: ${at}\nevent: ${event}\ndata: ${JSON.stringify({ topics })}\n\n`);
  };
  const beat = () => {
    cancel = clock.after(BEAT_MS, beat);
    catchUp();
    // What it isn't told of it needn't miss, either: it would have to read all anew after a break.
    say(at === said ? ": \n\n" : `: \nid: ${at}\nevent: beat\ndata: {}\n\n`);
    said = at;
  };
  const hears = (over: boolean) => {
    if (!over) return catchUp();
    say("event: bye\ndata: {}\n\n");
    inTurn(end);
  };
  leave = changes.listen(key, hears, { pace, wakes });
  if (leave === null)
    throw new ServiceError(
      "overloaded",
      "Too many streams of changes are open: close one, or ask with the parameter wait.",
      { retryAfter: 5 },
    );
  signal.addEventListener("abort", end, { once: true });
  const body = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own;
        say("retry: 2000\n\n");
        catchUp();
        cancel = clock.after(BEAT_MS, beat);
      },
      cancel() {
        controller = undefined;
        end();
      },
    },
    { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  const headers = {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    // With its end a stop needn't wait for the connection.
    connection: "close",
  };
  return new Response(body, { headers });
}
