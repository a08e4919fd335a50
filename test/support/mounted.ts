import { readFileSync } from "node:fs";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

/** A proxy that ends TLS and serves a box below a path, as people set one up. */
export interface MountedProxy {
  /** `https://localhost:4711/box`: the box's public address. */
  readonly url: string;
  /** Paths that were asked for outside of it: what a link led to that forgot where the box is. */
  readonly strays: string[];
  /** Where the box itself listens. */
  to(url: string): void;
  close(): void;
}

const pem = readFileSync(new URL("../fixtures/tls/good.pem", import.meta.url), "utf8");

export async function mountedProxy(path = "/box"): Promise<MountedProxy> {
  let target = "";
  const strays: string[] = [];
  const pass = (asked: IncomingMessage, answer: ServerResponse) => {
    const { url = "/", method = "GET", headers } = asked;
    if (!url.startsWith(`${path}/`)) {
      // Browsers ask for a picture of the tab by themselves.
      if (url !== "/favicon.ico") strays.push(`${method} ${url}`);
      return void answer.writeHead(url === "/favicon.ico" ? 204 : 404).end();
    }
    const forwarded = {
      "x-forwarded-for": asked.socket.remoteAddress ?? "",
      "x-forwarded-proto": "https",
      "x-forwarded-host": headers.host ?? "",
    };
    const onward = request(
      target + url.slice(path.length),
      { method, headers: { ...headers, ...forwarded } },
      (back) => {
        answer.writeHead(back.statusCode ?? 502, back.headers);
        back.pipe(answer);
      },
    );
    onward.on("error", () => answer.destroy());
    answer.on("close", () => onward.destroy());
    asked.pipe(onward);
  };
  const server = createServer({ key: pem, cert: pem }, pass);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}${path}`,
    strays,
    to(url) {
      target = url;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
