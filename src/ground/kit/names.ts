import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { LRUCache } from "lru-cache";
import type { Clock } from "./clock.ts";
import { EgressFault } from "./egress-error.ts";
import { lookupPlaces } from "./thread-pool.ts";

/** Every address of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Asks the operating system, hosts file and local names included. */
export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true });

/**
 * Lookups of names. Each takes one of few threads, and a name whose server is silent holds its thread
 * for ten seconds or more. So slow names wait for each other and never for others.
 */
export interface Names {
  /**
   * The name's addresses, asked for anew. While that takes longer than a second, or fails otherwise
   * than with "no such name", the answer of before serves. Rejects with EgressFault: `dns`, or `busy`
   * where too many names wait here.
   */
  lookup(hostname: string): Promise<readonly LookupAddress[]>;
  /**
   * Whether a call of this name that gives up now did so because of the queue here: the name still
   * waits its turn, or waited and got it less than `ms` ago.
   */
  heldBack(hostname: string, ms: number): boolean;
  /** For one of several parties: it has at most `most` lookups under way, however many it wants. */
  share(most: number): Names;
}

export interface NamesOptions {
  clock: Clock;
  resolve?: Resolve;
  /** Lookups under way at one time. Default: what the threads of this process allow. */
  places?: number;
}

/** A lookup that lasts longer makes its name a slow one. */
const SLOW_MS = 1_000;
/** How long an answer may stand in for one that doesn't come. */
const LONGEST_STAND_IN_MS = 86_400_000;
const MOST_KNOWN = 4_096;
/** Names of one party that wait. */
const MOST_WAITING = 1_024;

/** What is remembered of a name. */
interface Known {
  addresses: readonly LookupAddress[];
  /** Monotonic time of that answer. */
  answeredAt: number;
  isSlow: boolean;
  /** Monotonic time at which it last got its turn after waiting for it. */
  turnAt: number;
}

interface Party {
  most: number;
  running: number;
  waiting: number;
}

/** A name that is being looked up, or waits for that. */
interface Asked {
  hostname: string;
  /** Monotonic time. */
  since: number;
  hasTurn: boolean;
  /** Who wants to know; the lookup counts for one of them. */
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
  /** Of the places: those for slow names, and as many that only names known to be swift may take. */
  readonly #quarter: number;
  readonly #known = new LRUCache<string, Known>({ max: MOST_KNOWN });
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
    return this.#clock.mono() - turnAt < ms;
  }

  #ask(hostname: string): Asked {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
    // Those who asked may all have given up by the time it fails.
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

  /** Lets begin what there is a place for: of the parties, whoever has the fewest under way comes first. */
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

  /** Whether a lookup of the name may begin, as things stand. */
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

  /** The answer of before, where there is one that isn't too old. */
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

/** What the operating system says where it did get an answer: there is nothing by that name. */
function isNoSuchName(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOTFOUND";
}

function fail(): never {
  throw new EgressFault("dns");
}
