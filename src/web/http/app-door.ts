import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "./app.ts";
import type { AppListener, ListenerDeps } from "./app-listener.ts";

/** Node's requests on their way into the app. */
export interface AppHandler {
  serve(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** Loads the app now rather than with the first request. */
  load(): Promise<void>;
}

/**
 * The app is more than half of the program and no event needs it, so it is loaded after the box listens:
 * requests that come before wait for it.
 */
export function createAppHandler(app: () => Promise<App>, deps: ListenerDeps): AppHandler {
  let listener: AppListener | null = null;
  let loading: Promise<AppListener> | null = null;
  const load = async (): Promise<AppListener> => {
    const [{ appListener }, made] = await Promise.all([import("./app-listener.ts"), app()]);
    listener = appListener(made, deps);
    return listener;
  };
  const loaded = () => {
    loading ??= load();
    return loading;
  };
  return {
    serve(incoming, outgoing) {
      if (listener !== null) void listener(incoming, outgoing);
      else void loaded().then((serve) => serve(incoming, outgoing));
    },
    load: async () => void (await loaded()),
  };
}
