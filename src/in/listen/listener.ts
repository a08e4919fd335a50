import type { EgressClient } from "../../ground/kit/egress.ts";
import type { Log } from "../../ground/kit/log.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Note, Store } from "../../ground/store/store.ts";
import type { Via } from "../../out/outbox/senders/sent.ts";

/** Reads people's answers from one service, and acts on them. A job of the tenant's loop. */
export interface Listener {
  readonly name: string;
  readonly wokenBy: readonly Note["topic"][];
  /** Reads once. Returns when to read next, in Unix milliseconds; null: when woken. */
  run(): Promise<number | null>;
  /** Gateways or people may have changed: ends a running read whose gateway is gone. */
  changed(): void;
  /** Ends a running read, and starts no more. Resolves when everything that was read is done. */
  stop(): void | Promise<void>;
}

export interface ListenDeps {
  store: Store;
  log: Log;
  sealer: Sealer;
  /** Separate connections: a read can take a minute, and must not delay pages. */
  egress: EgressClient;
  /** Runs the named listener soon. */
  wake(name: string): void;
}

export function viaOf({ egress, store }: ListenDeps, signal?: AbortSignal): Via {
  return { egress, now: store.clock.now(), ...(signal && { signal }) };
}
