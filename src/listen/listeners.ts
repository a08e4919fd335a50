import type { Note } from "../store/store.ts";
import type { ListenDeps, Listener } from "./listener.ts";
import { ntfyListener } from "./ntfy.ts";
import { pushoverListener } from "./pushover.ts";
import { telegramListener } from "./telegram.ts";

/** Everything that asks services for people's answers. */
export interface Listeners {
  readonly jobs: readonly Pick<Listener, "name" | "wokenBy" | "run">[];
  /** What was committed. */
  told(notes: readonly Note[]): void;
  /** Ends what is under way: it ends within the second. */
  stop(): void;
}

export function createListeners(deps: ListenDeps): Listeners {
  const all = [telegramListener, ntfyListener, pushoverListener].map((make) => make(deps));
  return {
    jobs: all.map(({ name, wokenBy, run }) => ({ name, wokenBy, run })),
    told(notes) {
      if (notes.some(({ topic }) => topic === "people")) for (const each of all) each.changed();
    },
    stop() {
      for (const each of all) each.stop();
    },
  };
}
