import { LRUCache } from "lru-cache";
import type { PageRequest } from "./page-request.ts";
import type { FormDone, Who } from "./screen.ts";

/**
 * Acts that may come twice, since the answer to the first was lost: what has the same name (`X-Act`) of one session is done once,
 * and answered alike. In memory alone.
 */
export type Once = (
  asking: PageRequest,
  who: Who,
  work: () => Promise<FormDone>,
) => Promise<FormDone>;

const MOST = 1000;
const NAME = /^[\w-]{1,64}$/;

export function createOnce(): Once {
  const done = new LRUCache<string, Promise<FormDone>>({ max: MOST });
  return ({ c, url }, { sessionId }, work) => {
    const name = c.req.header("x-act") ?? "";
    if (!NAME.test(name)) return work();
    const key = `${sessionId} ${url.pathname} ${name}`;
    const known = done.get(key);
    if (known !== undefined) return known;
    const began = work();
    done.set(key, began);
    // What wasn't taken may be tried again.
    began.catch(() => done.delete(key));
    return began;
  };
}
