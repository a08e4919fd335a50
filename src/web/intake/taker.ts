import type { Source } from "../../core/projects/sources.ts";
import { type Cidr, mayCome } from "../../ground/kit/addresses.ts";
import { type Clock, sleep, unixSeconds } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { turns } from "../../ground/kit/turns.ts";
import type { Framed } from "../../in/adapters/syslog/frames.ts";
import type { SenderClock } from "../../in/adapters/syslog/rfc3164.ts";
import type { IngestEvent } from "../../in/ingest/event.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import type { Format } from "./format.ts";
import type { LoopTurn } from "./loop-turn.ts";
import type { Port, PortOutcome } from "./port.ts";
import { type KnownSender, type SyslogPeer, senderFinder } from "./senders.ts";

export interface IntakeDeps {
  tenant: Tenant;
  clock: Clock;
  /** Who may send, beside this machine; empty: whoever reaches the port. */
  allowFrom: readonly Cidr[];
  /** Spends the tenant's ingest rate. Throws ServiceError of status 429. */
  spend(events: number): void;
  /** Senders that can set no token, by what else tells who they are. */
  senders: readonly KnownSender[];
  /** What times without a zone mean; the machine's own zone when absent. */
  senderClock?: SenderClock | undefined;
  /** Counts a wrong key of this address. Throws ServiceError of status 429. */
  guess(address: string): void;
}

/** What the takers of all ports have together. */
export interface TakerDeps extends IntakeDeps {
  turn: LoopTurn;
}

/** Everything behind a port's sockets: whose a message is, and the way into the common ingest. */
export type Taker = ReturnType<typeof createTaker>;

/** Messages of one port without a connection that may wait for their commit: HTTP's events need room, too. */
const MOST_WAITING = 5000;
/** Bytes of those that nobody had time to read yet. */
const MOST_UNREAD = 8 * 1024 * 1024;
/** Messages of a connection that are read in one turn and written with one commit: tiny ones come in tens of thousands. */
const MOST_AT_ONCE = 500;
const PAUSE_MS = 100;
const HOUR_MS = 3_600_000;

export function createTaker(port: Port, format: Format, deps: TakerDeps) {
  const { tenant, clock, allowFrom, spend, turn } = deps;
  const outcomes = noneYet();
  const stopping = new AbortController();
  const find = createFinder(port, format.kind, deps);
  const tell = createTeller(port, deps);
  let waiting = 0;
  const unread: { frame: Framed; peer: SyslogPeer }[] = [];
  let unreadBytes = 0;

  const count = (outcome: PortOutcome, n = 1) => {
    outcomes[outcome] += n;
    if (outcome !== "taken" && n > 0) tell(outcome);
  };

  const sorted = (frame: Framed, peer: SyslogPeer) => {
    try {
      return identified(frame, peer);
    } catch (error) {
      // No message ends the process, whatever its bytes find.
      tell("failed", error);
      return void count("failed");
    }
  };

  const identified = (frame: Framed, peer: SyslogPeer) => {
    const incoming = format.read(frame, { peer: peer.address, at: unixSeconds(clock) });
    if (incoming === null) return void count("unreadable");
    const source = find(incoming.token, peer);
    if (source === null) return void count("no_source");
    const watched = () => tenant.ingest.watched(source.projectId);
    return { source, event: incoming.event({ options: source.options, watched }) };
  };

  const submit = (source: Source, events: readonly IngestEvent[]) =>
    new Promise<void>((resolve, reject) => {
      spend(events.length);
      tenant.ingest.submit(source, events, (error, answers) =>
        answers === null ? reject(error) : resolve(),
      );
    }).catch((error: unknown) => {
      // It is committed: a sender who can't be told waits until it is durable, however long that takes.
      if (!isNotDurable(error)) throw error;
      return tenant.store.durable() ?? undefined;
    });

  const insist = async (source: Source, events: readonly IngestEvent[]) => {
    while (!stopping.signal.aborted) {
      try {
        await submit(source, events);
        return count("taken", events.length);
      } catch (error) {
        if (!isOverload(error)) return count("failed", events.length);
        await sleep(clock, PAUSE_MS, stopping.signal);
      }
    }
    count("failed", events.length);
  };

  const read = (frame: Framed, peer: SyslogPeer) => {
    const message = turns.during("port", () => sorted(frame, peer));
    if (message === undefined) return;
    if (waiting >= MOST_WAITING) return count("overloaded");
    waiting += 1;
    submit(message.source, [message.event])
      .then(
        () => count("taken"),
        (error) => count(isOverload(error) ? "overloaded" : "failed"),
      )
      .finally(() => (waiting -= 1));
  };

  const readOn = async () => {
    for (let next = unread[0]; next !== undefined; next = unread[0]) {
      if (!turn.isFree) await turn.mine();
      if (stopping.signal.aborted) return count("failed", unread.splice(0).length);
      unread.shift();
      unreadBytes -= next.frame.bytes.length;
      read(next.frame, next.peer);
    }
  };

  return {
    mayComeFrom: (address: string) => mayCome(address, allowFrom),
    count,
    /** Hands a message over, at once where there is time, or counts why not: for what comes without a connection. */
    offer(frame: Framed, peer: SyslogPeer) {
      if (unread.length === 0 && turn.isFree) return read(frame, peer);
      const bytes = unreadBytes + frame.bytes.length;
      if (unread.length >= MOST_WAITING || bytes > MOST_UNREAD) return count("overloaded");
      unreadBytes = bytes;
      if (unread.push({ frame, peer }) === 1) void readOn();
    },
    /** Hands messages over in order and waits for their commit, and for room: for what can be left unread meanwhile. */
    async take(frames: readonly Framed[], peer: SyslogPeer) {
      for (let from = 0; from < frames.length; from += MOST_AT_ONCE) {
        if (stopping.signal.aborted) return count("failed", frames.length - from);
        const messages: Message[] = [];
        for (const frame of frames.slice(from, from + MOST_AT_ONCE)) {
          // What nobody can read waits for no commit.
          if (!turn.isFree) await turn.mine();
          const message = turns.during("port", () => sorted(frame, peer));
          if (message !== undefined) messages.push(message);
        }
        for (const { source, events } of bySource(messages)) await insist(source, events);
      }
    },
    stop: () => stopping.abort(),
    isStopped: () => stopping.signal.aborted,
    counts: { port: port.name, outcomes },
  };
}

interface Message {
  source: Source;
  event: IngestEvent;
}

/** Neighbours of one source together, in their order. */
function bySource(messages: readonly Message[]): { source: Source; events: IngestEvent[] }[] {
  const runs: { source: Source; events: IngestEvent[] }[] = [];
  for (const { source, event } of messages) {
    const last = runs.at(-1);
    if (last?.source.id === source.id) last.events.push(event);
    else runs.push({ source, events: [event] });
  }
  return runs;
}

/** What became of a port's messages, to be counted. */
export function noneYet(): Record<PortOutcome, number> {
  return { taken: 0, not_allowed: 0, no_source: 0, unreadable: 0, overloaded: 0, failed: 0 };
}

const isOverload = (error: unknown) => error instanceof ServiceError && error.status === 429;
const isNotDurable = (error: unknown) =>
  error instanceof ServiceError && error.code === "not_ready";

/** Whose a message is: its token's source where it has one, else its sender's. */
export function createFinder(
  port: Port,
  kind: string,
  { tenant: { ingest, store }, senders }: Pick<IntakeDeps, "tenant" | "senders">,
) {
  const ofSender = senderFinder(store, port, senders);
  return (token: string | null, peer: SyslogPeer): Source | null => {
    const source = token === null ? ofSender(peer) : ingest.authenticate(token);
    return source?.kind === kind ? source : null;
  };
}

/** Says in the log that messages are lost, each reason once an hour: a sender that can't be told looks well. */
function createTeller(port: Port, { tenant, clock }: IntakeDeps) {
  const told = new Map<PortOutcome, number>();
  return (why: PortOutcome, err?: unknown) => {
    const last = told.get(why);
    if (last !== undefined && clock.mono() - last < HOUR_MS) return;
    told.set(why, clock.mono());
    const place = `${port.host}:${port.port}`;
    tenant.log.warn(
      { port: port.name, place, why, err },
      "messages that came by this port are lost",
    );
  };
}
