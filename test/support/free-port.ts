import { once } from "node:events";
import { createServer } from "node:net";

/** Systems give the ports above to connections, so one of those may be taken while whoever had it restarts. */
const [LOWEST, HIGHEST] = [10_000, 32_000];

/** A port of 127.0.0.1 that nothing listens on, for a server that has to have the same one after a restart. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const server = createServer();
    const listens = once(server.listen(port, "127.0.0.1"), "listening");
    const isFree = await listens.then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
