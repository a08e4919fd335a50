/**
 * The files of undici that are used. The whole package (mocks, caches, proxies, many clients) takes twice as long to
 * load. These files aren't its public interface: its version is fixed, and `test/ground/kit` runs each of them.
 */

declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";

  export default Pool;
}

declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici";

  export default Agent;
}

declare module "undici/lib/core/connect.js" {
  import { buildConnector } from "undici";

  export default buildConnector;
}

declare module "undici/lib/web/websocket/websocket.js" {
  import { ping, WebSocket } from "undici";

  const made: { WebSocket: typeof WebSocket; ping: typeof ping };
  export default made;
}

declare module "undici/lib/api/api-request.js" {
  import type { Dispatcher } from "undici";

  const request: (
    this: Dispatcher,
    options: Dispatcher.RequestOptions,
  ) => Promise<Dispatcher.ResponseData>;
  export default request;
}
