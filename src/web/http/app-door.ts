import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "./app.ts";
import type { IngestHandler, IngestReply } from "./ingest.ts";
import { wireError } from "./wire.ts";

/** Node's requests on their way into the app. */
export type AppHandler = ReturnType<typeof createAppHandler>;

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

/**
 * The app is more than half of the program and no event needs it, so it is loaded after the box listens:
 * requests that come before wait for it.
 */
export function createAppHandler(app: () => Promise<App>, ingest: IngestHandler) {
  let listener: Listener | null = null;
  let loading: Promise<Listener> | null = null;

  const load = async (): Promise<Listener> => {
    const [{ getRequestListener }, { fetch }] = await Promise.all([
      import("@hono/node-server"),
      app(),
    ]);
    listener = getRequestListener(fetch, {
      overrideGlobalObjects: false,
      // HTTP/1.0 has no Host, and load balancers still ask for health that way.
      hostname: "localhost",
      // Only what is no request gets here: the app answers its own errors.
      errorHandler: () => toResponse(ingest.refuse(wireError({}))),
    });
    return listener;
  };
  const loaded = () => {
    loading ??= load();
    return loading;
  };

  return {
    serve(incoming: IncomingMessage, outgoing: ServerResponse) {
      if (listener !== null) listener(incoming, outgoing);
      else void loaded().then((serve) => serve(incoming, outgoing));
    },
    /** Loads the app now rather than with the first request. */
    load: async () => void (await loaded()),
  };
}

function toResponse({ status, headers, body }: IngestReply): Response {
  return new Response(body, { status, headers: { ...headers, connection: "close" } });
}
