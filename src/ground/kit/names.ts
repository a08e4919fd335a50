import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { LRUCache } from "lru-cache";
import { atMost } from "./at-most.ts";
import type { Clock } from "./clock.ts";
import { EgressFault } from "./egress-error.ts";
import { lookupPlaces } from "./thread-pool.ts";

/** Resolves a name to all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Asks the operating system, which also knows the hosts file and local names. */
const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true });

/**
 * Lookups of names. Each one takes one of few threads, and a silent name server holds its thread for ten seconds or
 * more. So slow names only wait for each other, and fast names never wait for them.
 */
export interface Names {
  /**
   * Looks the name up. Where that takes longer than a second, or fails for another reason than "no such name", it
   * returns the last answer. Rejects with EgressFault: `dns`, or `busy` where too many names wait.
   */
  lookup(hostname: string): Promise<readonly LookupAddress[]>;
  /** Whether this queue is why a call of the name gives up now: it waits, or waited until `ms` ago. */
  heldBack(hostname: string, ms: number): boolean;
  /** Lookups for one of several parties, which has at most `most` of them under way. */
  share(most: number): Names;
}

interface NamesOptions {
  clock: Clock;
  resolve?: Resolve;
  /** Lookups under way at one time. Default: what the process's threads allow. */
  places?: number;
}

/** A name whose lookup takes longer counts as slow. */
const SLOW_MS = 1_000;
/** How long the last answer may replace a missing one. */
const LONGEST_STAND_IN_MS = 86_400_000;
const MOST_KNOWN = 4_096;
/** Waiting names of one party. */
const MOST_WAITING = 1_024;

/** What is known of a name. */
interface Known {
  addresses: readonly LookupAddress[];
  /** Monotonic time of the last answer. */
  answeredAt: number;
  isSlow: boolean;
  /** Monotonic time at which its last wait ended. */
  turnAt: number;
}

interface Party {
  most: number;
  running: number;
  waiting: number;
}

/** A name whose lookup is under way or waits. */
interface Asked {
  hostname: string;
  /** Monotonic time. */
  since: number;
  hasTurn: boolean;
  /** The parties that want the name. The lookup counts for one of them. */
  parties: Set<Party>;
  answer: Promise<readonly LookupAddress[]>;
  begin(party: Party): void;
}

export function createNames(options: NamesOptions): Names {
  const book = new Book(options);
  return sharedOut(book, Number.POSITIVE_INFINITY);
}

function sharedOut(book: Book, most: number): Names {
  const party: Party = { most, running: 0, waiting: 0 };
  return {
    lookup: (hostname) => book.lookup(hostname, party),
    heldBack: (hostname, ms) => book.heldBack(hostname, ms),
    share: (less) => sharedOut(book, Math.min(most, less)),
  };
}

class Book {
  readonly #clock: Clock;
  readonly #resolve: Resolve;
  readonly #most: number;
  /** Places for slow names. As many others are only for names known to be fast. */
  readonly #quarter: number;
  readonly #known = new LRUCache<string, Known>(atMost(MOST_KNOWN));
  readonly #asked = new Map<string, Asked>();
  readonly #running = new Set<Asked>();
  /** Oldest first. */
  readonly #waiting = new Set<Asked>();

  constructor({ clock, resolve = systemResolve, places }: NamesOptions) {
    this.#clock = clock;
    this.#resolve = resolve;
    this.#most = places ?? lookupPlaces(process.env);
    this.#quarter = Math.max(1, Math.floor(this.#most / 4));
  }

  lookup(hostname: string, party: Party): Promise<readonly LookupAddress[]> {
    const asked = this.#asked.get(hostname) ?? this.#ask(hostname);
    if (!asked.hasTurn && !asked.parties.has(party)) {
      if (party.waiting >= MOST_WAITING) return Promise.reject(new EgressFault("busy"));
      party.waiting++;
      asked.parties.add(party);
      this.#asked.set(hostname, asked);
      this.#waiting.add(asked);
      this.#admit();
    }
    const before = this.#standIn(hostname);
    return before === null ? asked.answer.catch(fail) : this.#orBefore(asked, before);
  }

  heldBack(hostname: string, ms: number): boolean {
    if (this.#asked.get(hostname)?.hasTurn === false) return true;
    const { turnAt } = this.#known.peek(hostname) ?? nothing;
    // A timer may fire up to a millisecond early.
    return Math.ceil(this.#clock.mono() - turnAt) < ms;
  }

  #ask(hostname: string): Asked {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
    // All callers may have given up before it fails.
    promise.catch(() => {});
    const asked: Asked = {
      hostname,
      since: this.#clock.mono(),
      hasTurn: false,
      parties: new Set(),
      answer: promise,
      begin: (party) => void this.#run(asked, party).then(resolve, reject),
    };
    return asked;
  }

  /** Begins lookups while places are free. The party with the fewest under way comes first. */
  #admit(): void {
    for (;;) {
      const hasPlace = this.#places();
      let next: { asked: Asked; party: Party } | null = null;
      for (const asked of this.#waiting) {
        if (!hasPlace(asked.hostname)) continue;
        for (const party of asked.parties)
          if (party.running < Math.min(party.most, next?.party.running ?? party.most))
            next = { asked, party };
      }
      if (next === null) return;
      this.#waiting.delete(next.asked);
      for (const party of next.asked.parties) party.waiting--;
      next.asked.begin(next.party);
    }
  }

  /** Returns a function that says whether a name's lookup may begin now. */
  #places(): (hostname: string) => boolean {
    const taken = this.#running.size;
    const isSlow = (hostname: string) => this.#known.peek(hostname)?.isSlow;
    const slow = [...this.#running].filter(({ hostname }) => isSlow(hostname)).length;
    return (hostname) => {
      if (isSlow(hostname) === false) return taken < this.#most;
      return taken < this.#most - this.#quarter && (!isSlow(hostname) || slow < this.#quarter);
    };
  }

  async #run(asked: Asked, party: Party): Promise<readonly LookupAddress[]> {
    const { hostname } = asked;
    const start = this.#clock.mono();
    asked.hasTurn = true;
    this.#running.add(asked);
    party.running++;
    if (start > asked.since) this.#learn(hostname, { turnAt: start });
    const cancel = this.#clock.after(SLOW_MS, () => this.#learn(hostname, { isSlow: true }));
    try {
      const addresses = await this.#resolve(hostname);
      this.#learn(hostname, { addresses, answeredAt: this.#clock.mono() });
      return addresses;
    } catch (error) {
      if (isNoSuchName(error)) this.#learn(hostname, { addresses: [] });
      throw error;
    } finally {
      cancel();
      this.#learn(hostname, { isSlow: this.#clock.mono() - start >= SLOW_MS });
      party.running--;
      this.#running.delete(asked);
      this.#asked.delete(hostname);
      this.#admit();
    }
  }

  #learn(hostname: string, news: Partial<Known>): void {
    this.#known.set(hostname, { ...(this.#known.get(hostname) ?? nothing), ...news });
  }

  /** The last answer, unless there is none or it is too old. */
  #standIn(hostname: string): readonly LookupAddress[] | null {
    const { addresses, answeredAt } = this.#known.get(hostname) ?? nothing;
    const isFresh = this.#clock.mono() - answeredAt < LONGEST_STAND_IN_MS;
    return addresses.length > 0 && isFresh ? addresses : null;
  }

  #orBefore(
    { answer, since }: Asked,
    before: readonly LookupAddress[],
  ): Promise<readonly LookupAddress[]> {
    return new Promise((resolve, reject) => {
      const left = Math.max(0, SLOW_MS - (this.#clock.mono() - since));
      const cancel = this.#clock.after(left, () => resolve(before));
      answer.finally(cancel).then(resolve, (error) => {
        if (isNoSuchName(error)) reject(new EgressFault("dns"));
        else resolve(before);
      });
    });
  }
}

const nothing: Known = {
  addresses: [],
  answeredAt: Number.NEGATIVE_INFINITY,
  isSlow: false,
  turnAt: Number.NEGATIVE_INFINITY,
};

/** The system got an answer, and the answer was that there is no such name. */
function isNoSuchName(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOTFOUND";
}

function fail(): never {
  throw new EgressFault("dns");
}
