import { once } from "node:events";
import {
  type AddressInfo,
  connect,
  createServer,
  type NetConnectOpts,
  type Socket,
} from "node:net";

/** A small TCP forwarder: a virtual address before one or more servers, whose connections can be cut. */
export interface Forwarder {
  port: number;
  /** Ends every connection that runs through it at once, on both sides. */
  cut(): void;
  /** Until `cut`, connections stay open and carry nothing: the machine at one end has no power. */
  silence(): void;
  close(): Promise<void>;
}

/**
 * `targets`: where the next connection goes, the first that takes it; each in turn comes first, as a load balancer
 * spreads them.
 */
export async function startForwarder(targets: () => readonly NetConnectOpts[]): Promise<Forwarder> {
  const open = new Set<Socket>();
  let turn = 0;
  let isSilent = false;
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (client) => {
    follow(client);
    if (isSilent) return;
    const all = targets();
    const first = turn++;
    const attempt = (n: number) => {
      const target = n < all.length ? all[(first + n) % all.length] : undefined;
      if (target === undefined || client.destroyed) return void client.destroy();
      const upstream = connect({ ...target, allowHalfOpen: true });
      upstream.once("error", () => attempt(n + 1));
      upstream.once("connect", () => {
        upstream.removeAllListeners("error");
        follow(upstream);
        if (isSilent) return;
        client.once("close", () => upstream.destroy());
        upstream.once("close", () => client.destroy());
        client.pipe(upstream).pipe(client);
      });
    };
    attempt(0);
  });
  const follow = (socket: Socket) => {
    open.add(socket.on("error", () => {}));
    socket.once("close", () => open.delete(socket));
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    isSilent = false;
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    silence() {
      isSilent = true;
      for (const socket of open) socket.unpipe().pause().removeAllListeners("close");
    },
    async close() {
      server.close();
      cut();
      await once(server, "close");
    },
  };
}
