import { type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { basename, dirname } from "node:path";
import type { SendOn } from "../web/http/send-on.ts";
import { type NodeLink, openNodeLink } from "./box-link.ts";
import type { HostedConfig } from "./hosted-config.ts";
import type { BoxDeps } from "./parts.ts";

/** What comes by the link is for a tenant of this node, or for nobody's. */
const PORT = "tenants";
/** Of one connection alone (RFC 9110 §7.6.1); `expect` was answered. */
const OWN = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
  "expect",
]);

/** What joins this node with the others. */
interface HostedLink extends Pick<NodeLink, "address" | "close"> {
  /** Sends a request on to the node of its tenant: one hop at most. */
  sendOn: SendOn;
  /** From now on what others send on is taken; null: it isn't. */
  serve(take: ((socket: Socket) => void) | null): void;
  counts: { forwarded: number; failed: number };
}

/** Opens the link; null without --cluster-listen. Throws why it can't listen. */
export async function openHostedLink(
  { cluster, keyFile }: HostedConfig,
  deps: BoxDeps,
): Promise<HostedLink | null> {
  if (cluster === null) return null;
  const key = { dir: dirname(keyFile), name: basename(keyFile) };
  const { address, dial, serve, close } = await openNodeLink(cluster, key, deps);
  const hopped = new WeakSet<Socket>();
  const counts = { forwarded: 0, failed: 0 };
  return {
    address,
    close,
    counts,
    serve(take) {
      const taken = (socket: Socket) => {
        hopped.add(socket);
        take?.(socket);
      };
      serve((port) => (port === PORT && take !== null ? taken : null));
    },
    async sendOn(asked, to) {
      const { socket } = asked.incoming;
      if (to.address === null || hopped.has(socket)) return false;
      const came = {
        port: PORT,
        address: socket.remoteAddress ?? "",
        peerPort: socket.remotePort ?? 0,
        isSecure: "encrypted" in socket && socket.encrypted === true,
        certificate: null,
      };
      try {
        // A node that leaves has its tenants for a moment more. If they are this one's then, it sends to itself.
        const link = await dial(to.address, came).catch(async (error: unknown) => {
          const next = await to.next();
          if (next === null) throw error;
          return dial(next, came);
        });
        counts.forwarded++;
        await exchanged(asked, link);
        return true;
      } catch (error) {
        counts.failed++;
        deps.log.warn(
          { err: error, to: to.address },
          "a request isn't answered by its tenant's node",
        );
        return asked.outgoing.headersSent || asked.outgoing.destroyed;
      }
    },
  };
}

/** Resolves once the answer has ended, or whoever asked is gone; rejects where none came, or it broke off. */
function exchanged(
  { incoming, outgoing, read }: Parameters<SendOn>[0],
  link: Socket,
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Whoever asked has left while it waited.
    if (outgoing.destroyed) {
      link.destroy();
      return resolve();
    }
    const headers = headersOf(incoming);
    // HTTP/1.0 may say none; it is sent on as HTTP/1.1, which has to.
    if (incoming.headers.host === undefined) headers.push("Host", "");
    const asked = request({
      createConnection: () => link,
      method: incoming.method,
      path: incoming.url,
      headers,
      setHost: false,
    });
    // Nobody waits for it any more.
    const gone = () => {
      asked.destroy();
      resolve();
    };
    const failed = (error: Error) => {
      outgoing.off("close", gone);
      link.destroy();
      // Half an answer is none.
      if (outgoing.headersSent) outgoing.destroy();
      reject(error);
    };
    outgoing.once("close", gone);
    asked.on("error", failed);
    // It is paused since its first line was read.
    asked.once("socket", () => link.resume());
    asked.once("response", (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, headersOf(answer));
      outgoing.flushHeaders();
      answer.on("error", failed);
      answer.once("end", () => {
        outgoing.off("close", gone);
        // What was answered before it had all come is read to its end: the next request follows it.
        incoming.unpipe(asked);
        incoming.resume();
        resolve();
      });
      answer.pipe(outgoing);
    });
    if (read === null) incoming.pipe(asked);
    else asked.end(read);
  });
}

/** As they came, in their order, but for those of the connection. */
function headersOf({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">): string[] {
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!OWN.has((rawHeaders[i] ?? "").toLowerCase()))
      kept.push(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  return kept;
}
