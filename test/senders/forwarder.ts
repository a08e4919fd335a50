import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that a sender made and the box answered. */
export interface Forwarded {
  path: string;
  body: string;
  status: number;
}

/** An address that stays while the box behind it is killed and started anew; it sees what goes through. */
export interface Forwarder {
  readonly url: string;
  /** Where requests go; null: nobody is there, and connections are cut. */
  to: string | null;
  readonly seen: readonly Forwarded[];
  /** Requests that found nobody. */
  readonly missed: readonly { path: string; body: string }[];
  /** Called when the box has answered, before its sender hears of it. */
  onAnswer: (forwarded: Forwarded) => void;
  close(): void;
}

export async function startForwarder(): Promise<Forwarder> {
  const seen: Forwarded[] = [];
  const missed: { path: string; body: string }[] = [];
  const server = createServer((incoming, answer) => {
    void read(incoming).then((body) => forward(incoming, body, answer));
  });
  const forward = (incoming: IncomingMessage, body: Buffer, answer: ServerResponse) => {
    const path = incoming.url ?? "";
    const lost = () => {
      missed.push({ path, body: body.toString() });
      answer.destroy();
    };
    if (forwarder.to === null) return lost();
    const on = request(
      forwarder.to + path,
      { method: incoming.method ?? "GET", headers: incoming.headers, agent: false },
      (reply) => {
        void read(reply).then((text) => {
          const forwarded = { path, body: body.toString(), status: reply.statusCode ?? 0 };
          seen.push(forwarded);
          forwarder.onAnswer(forwarded);
          answer.writeHead(forwarded.status, reply.headers).end(text);
        }, lost);
      },
    );
    on.on("error", lost);
    on.end(body);
  };
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const forwarder: Forwarder = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    to: null,
    seen,
    missed,
    onAnswer: () => {},
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return forwarder;
}

async function read(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
