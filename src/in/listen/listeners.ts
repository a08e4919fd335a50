import type { Note } from "../../ground/store/store.ts";
import type { ListenDeps, Listener } from "./listener.ts";
import { ntfyListener } from "./ntfy.ts";
import { pushoverListener } from "./pushover.ts";
import { slackListener } from "./slack.ts";
import { telegramListener } from "./telegram.ts";

/** Everything that asks services for people's answers. */
export interface Listeners {
  readonly jobs: readonly Pick<Listener, "name" | "wokenBy" | "run">[];
  /** What was committed. */
  told(notes: readonly Note[]): void;
  /** Ends what is under way at once. Settles when what was heard is acted on. */
  stop(): Promise<void>;
}

export function createListeners(deps: ListenDeps): Listeners {
  const all = [telegramListener, slackListener, ntfyListener, pushoverListener].map((make) =>
    make(deps),
  );
  return {
    jobs: all.map(({ name, wokenBy, run }) => ({ name, wokenBy, run })),
    told(notes) {
      if (notes.some(({ topic }) => topic === "people")) for (const each of all) each.changed();
    },
    async stop() {
      await Promise.all(all.map((each) => each.stop()));
    },
  };
}
