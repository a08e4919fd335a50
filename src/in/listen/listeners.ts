import type { Note } from "../../ground/store/store.ts";
import type { ListenDeps } from "./listener.ts";
import { ntfyListener } from "./ntfy.ts";
import { pushoverListener } from "./pushover.ts";
import { slackListener } from "./slack.ts";
import { telegramListener } from "./telegram.ts";

/** All listeners. */
export function createListeners(deps: ListenDeps) {
  const all = [telegramListener, slackListener, ntfyListener, pushoverListener].map((make) =>
    make(deps),
  );
  return {
    jobs: all.map(({ name, wokenBy, run }) => ({ name, wokenBy, run })),
    /** Called with committed changes. */
    told(notes: readonly Note[]) {
      if (notes.some(({ topic }) => topic === "people")) for (const each of all) each.changed();
    },
    /** Ends running reads. Resolves when everything that was read is done. */
    async stop() {
      await Promise.all(all.map((each) => each.stop()));
    },
  };
}
