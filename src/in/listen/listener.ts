import type { EgressClient } from "../../ground/kit/egress.ts";
import type { Log } from "../../ground/kit/log.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Note, Store } from "../../ground/store/store.ts";
import type { Via } from "../../out/outbox/senders/sent.ts";

/** Asks one service for the answers that people give there, and acts on them. A job of the tenant's loop. */
export interface Listener {
  readonly name: string;
  readonly wokenBy: readonly Note["topic"][];
  /** One look. When the next is wanted, in Unix milliseconds; null: once it is woken. */
  run(): Promise<number | null>;
  /** Gateways or people may have changed: ends a look that is under way with what is no more. */
  changed(): void;
  /** Ends a look that is under way, and begins none. Settles when what was heard is acted on. */
  stop(): void | Promise<void>;
}

export interface ListenDeps {
  store: Store;
  log: Log;
  sealer: Sealer;
  /** Connections of its own: a look is held open for a minute, and keeps no page waiting. */
  egress: EgressClient;
  /** Runs the named listener soon. */
  wake(name: string): void;
}

/** What calls to a service need. */
export function viaOf({ egress, store }: ListenDeps, signal?: AbortSignal): Via {
  return { egress, now: store.clock.now(), ...(signal && { signal }) };
}
