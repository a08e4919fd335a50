import type { Agent } from "node:http";
import type { Socket } from "node:net";
import type { AddressRules } from "./addresses.ts";
import { Attempt } from "./attempt.ts";
import type { Clock } from "./clock.ts";
import { type Dialled, type DialRequest, dial } from "./dial.ts";
import { type EgressError, EgressFault } from "./egress-error.ts";
import { type EgressRequest, type EgressResult, unsent } from "./exchange.ts";
import { guardedAgent, trustedBeside } from "./guarded.ts";
import { createNames, type Names } from "./names.ts";
import { createPools, type OriginPool, type Pools } from "./pools.ts";
import { openTalk, type Talk, type TalkRequest } from "./talk.ts";
import { readUrl } from "./url.ts";

/** The only way by which the process opens connections. */
export interface Egress {
  send(request: EgressRequest): Promise<EgressResult>;
  /** Opens a connection of another protocol, until the client closes. Rejects with an EgressFault. */
  dial(request: DialRequest): Promise<Dialled>;
  /** Opens a WebSocket. Rejects with an EgressFault. Closing the client ends it. */
  talk(request: TalkRequest): Promise<Talk>;
}

export interface EgressClient extends Egress {
  /** How many origins it has pools for, without those of its shares. */
  origins(): number;
  /**
   * Another client with the same rules, and with connections and pools of its own; with lookups of its own where
   * `lookups` is set. Its requests and this client's never wait for each other.
   */
  share(bounds?: ShareBounds): EgressClient;
  /** Ends every connection, those of its shares too. Attempts under way and later ones get `stopped`. */
  close(): Promise<void>;
}

export interface ShareBounds {
  /** Sockets for each origin. Default: as in the client it is a share of. */
  connections?: number;
  /** Origins that have a pool at one time. Default: as in the client it is a share of. */
  maxOrigins?: number;
  /** Lookups under way at one time. */
  lookups?: number;
}

export interface EgressOptions {
  clock: Clock;
  rules: AddressRules;
  /**
   * For URLs that a stranger can choose (receipt checks): only https, only public addresses. The operator's allow list
   * doesn't count, because it is meant for addresses that the operator typed.
   */
  publicHttpsOnly?: boolean;
  /** Sockets for each origin. Default 4. */
  connections?: number;
  /** Origins that have a pool at one time. Default 256. The pool idle for longest is dropped first. */
  maxOrigins?: number;
  /** Limit for lookup, connection and TLS handshake, in milliseconds. Default 5,000. */
  connectMs?: number;
  userAgent?: string;
  /** The process's lookups, shared by all clients because its threads are few. Default: lookups of its own. */
  names?: Names;
  /** Certificates (PEM) that are trusted beside the default ones. */
  ca?: readonly string[];
}

/** A client that keeps connections open for each origin. It ignores proxy variables (contract §6, Egress). */
export function createEgress(options: EgressOptions): EgressClient {
  const names = options.names ?? createNames({ clock: options.clock });
  return new Client(options, {
    connections: options.connections ?? 4,
    maxOrigins: options.maxOrigins ?? 256,
    names,
  });
}

interface Own {
  connections: number;
  maxOrigins: number;
  names: Names;
}

class Client implements EgressClient {
  readonly #options: EgressOptions;
  readonly #own: Own;
  readonly #pools: Pools;
  readonly #shares = new Set<Client>();
  readonly #dialled = new Set<Socket>();
  readonly #talks = new Set<Talk>();
  readonly #whole: Client | null;
  #closed = false;

  constructor(options: EgressOptions, own: Own, whole: Client | null = null) {
    this.#options = options;
    this.#own = own;
    this.#whole = whole;
    this.#pools = createPools(options.clock, {
      connections: own.connections,
      most: own.maxOrigins,
      newAgent: (origin) => this.#newAgent(origin, own.connections),
    });
  }

  async send(request: EgressRequest): Promise<EgressResult> {
    const url = readUrl(request.url);
    if (typeof url === "string") return unsent("bad_url");
    if (this.#options.publicHttpsOnly && url.protocol !== "https:") return unsent("https_required");
    if (this.#closed || request.signal?.aborted) return unsent("stopped");
    const held = this.#pools.take(url.origin);
    if (held === null) return unsent("busy");
    const attempt = new Attempt(this.#options.clock, request, () => this.#pools.began(held));
    held.attempts.push(attempt);
    const fields = fieldsOf(url, request, this.#options.userAgent ?? "box");
    attempt.send(url, request, { agent: held.agent, fields });
    const result = await attempt.result;
    const error = this.#ownFault(result, url, held) ?? result.error;
    this.#pools.leave(held, attempt, result.sent);
    return { ...result, error };
  }

  async dial(request: DialRequest): Promise<Dialled> {
    const { clock, rules, publicHttpsOnly, connectMs = CONNECT_MS, ca = [] } = this.#options;
    if (publicHttpsOnly) throw new EgressFault("https_required");
    const socket = await dial(request, { clock, rules, names: this.#own.names, connectMs });
    if (this.#closed) {
      socket.destroy();
      throw new EgressFault("stopped");
    }
    this.#dialled.add(socket);
    socket.once("close", () => this.#dialled.delete(socket));
    return { socket, ca: ca.length > 0 ? trustedBeside(ca) : undefined };
  }

  async talk(request: TalkRequest): Promise<Talk> {
    const url = /^wss?:/.test(request.url) ? readUrl(request.url.replace(/^ws/, "http")) : "";
    if (typeof url === "string") throw new EgressFault("bad_url");
    if (this.#options.publicHttpsOnly && url.protocol !== "https:")
      throw new EgressFault("https_required");
    if (this.#closed) throw new EgressFault("stopped");
    const agent = this.#newAgent(url.origin, 1);
    const talk = await openTalk(url, request, { agent, clock: this.#options.clock });
    if (this.#closed) {
      talk.close();
      throw new EgressFault("stopped");
    }
    this.#talks.add(talk);
    void talk.closed.then(() => this.#talks.delete(talk));
    return talk;
  }

  origins(): number {
    return this.#pools.size;
  }

  share(bounds: ShareBounds = {}): EgressClient {
    const own = { ...this.#own, ...bounds };
    if (bounds.lookups !== undefined) own.names = this.#own.names.share(bounds.lookups);
    const share = new Client(this.#options, own, this);
    this.#shares.add(share);
    return share;
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#whole !== null) this.#whole.#shares.delete(this);
    for (const socket of this.#dialled) socket.destroy();
    for (const talk of this.#talks) talk.close();
    this.#pools.destroy();
    await Promise.all([...this.#shares].map((share) => share.close()));
  }

  #newAgent(origin: string, connections: number): Agent {
    const { clock, rules, publicHttpsOnly, connectMs = CONNECT_MS, ca = [] } = this.#options;
    return guardedAgent(
      { isSecure: origin.startsWith("https:"), connections },
      {
        clock,
        rules: publicHttpsOnly ? { role: "hosted", deny: rules.deny ?? [] } : rules,
        connectMs,
        names: this.#own.names,
        ca,
      },
    );
  }

  /** `busy` where the time passed in a queue of this program, for a lookup or a connection. */
  #ownFault({ error, sent }: EgressResult, url: URL, held: OriginPool): EgressError | null {
    if (error !== "timeout_connect" || sent) return null;
    const enough = this.#options.connectMs ?? CONNECT_MS;
    const hadToWait =
      this.#own.names.heldBack(url.hostname, enough) || this.#pools.heldBack(held, enough);
    return hadToWait ? "busy" : null;
  }
}

const CONNECT_MS = 5_000;

/** Methods whose requests say no length where they have no body. */
const BODILESS = /^(get|head|delete|options|trace|connect)$/i;

/** Names and values by turns: such a list Node sends as it is, all but `connection`. */
function fieldsOf(
  { host }: URL,
  { method, headers = {}, body }: EgressRequest,
  userAgent: string,
): string[] {
  const fields = Object.entries(headers).flat();
  const given = Object.keys(headers).map((name) => name.toLowerCase());
  const add = (name: string, value: string) => {
    if (!given.includes(name)) fields.push(name, value);
  };
  add("host", host);
  add("accept-encoding", "identity");
  add("user-agent", userAgent);
  if (body !== undefined || !BODILESS.test(method))
    add("content-length", String(Buffer.byteLength(body ?? "")));
  return fields;
}
