import { type Clock, sleep } from "../ground/kit/clock.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import type { Log } from "../ground/kit/log.ts";
import type { OpenTenant } from "./tenant-rest.ts";

/** Two for each connection for their pages (`leases`). */
const AT_ONCE = 4;
/** An upgrade of a large store takes longer, and other tenants are due meanwhile. */
const SOON_MS = 5_000;

/** Tenants that are being opened. */
export function createOpenings({ clock, log }: { clock: Clock; log: Log }) {
  const underWay = new Map<string, PromiseWithResolvers<OpenTenant | null>>();
  const late = new Set<string>();
  const soon = async (id: string, waking: Promise<boolean>): Promise<boolean> => {
    const over = new AbortController();
    const tooLong = sleep(clock, SOON_MS, over.signal).then(() => "late" as const);
    const found = await Promise.race([waking, tooLong]).finally(() => over.abort());
    if (found !== "late") return found;
    late.add(id);
    const failed = (err: unknown) => log.error({ err, tenant: id }, "waking a tenant failed");
    void waking.catch(failed).finally(() => late.delete(id));
    return true;
  };
  return {
    get size() {
      return underWay.size;
    },
    has: (id: string) => underWay.has(id),
    /** The opening that is under way, or the one that `open` begins. */
    of: (id: string, open: () => Promise<OpenTenant | null>) =>
      underWay.getOrInsertComputed(id, () => {
        const opening = Promise.withResolvers<OpenTenant | null>();
        void open()
          .then(opening.resolve, opening.reject)
          .finally(() => underWay.delete(id));
        return opening;
      }).promise,
    /**
     * Wakes several at a time: one waits for the database while another is read. Each is waited for some seconds. False
     * where one couldn't be woken, and then no more are.
     */
    async wakeAll(ids: string[], wake: (id: string) => Promise<boolean>): Promise<boolean> {
      let hasRoom = true;
      const some = async () => {
        for (let id = ids.shift(); id !== undefined && hasRoom; id = ids.shift())
          if (!(await soon(id, wake(id)))) hasRoom = false;
      };
      await Promise.all(Array.from({ length: AT_ONCE }, some));
      return hasRoom;
    },
    /** Those that weren't waited for any longer, and aren't awake yet. */
    late,
    /** Whoever waits for one waits no longer. */
    giveUp() {
      for (const opening of underWay.values()) opening.reject(notReady());
    },
    /** Resolves when nobody waits. */
    async over() {
      await Promise.allSettled([...underWay.values()].map(({ promise }) => promise));
    },
  };
}

export class UnreadableTenant extends ServiceError {}

export function notReady(): ServiceError {
  return new UnreadableTenant("not_ready", "This tenant's data can't be read at this moment.", {
    retryAfter: 60,
  });
}
