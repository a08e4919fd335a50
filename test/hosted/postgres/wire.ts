import { readFileSync } from "node:fs";
import { connect as connectSocket, createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { TLSSocket } from "node:tls";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import type { Resolve } from "../../../src/ground/kit/names.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import type { SeenGeneration } from "../../../src/hosted/registry/generation.ts";
import { openDatabase } from "../../../src/hosted/registry/postgres/connect.ts";
import { readDatabaseUrl } from "../../../src/hosted/registry/postgres/database-url.ts";
import { boxEgress } from "../../support/egress.ts";
import type { TestDatabase } from "../../support/postgres.ts";

const fixtures = join(import.meta.dirname, "../../fixtures");
export const LOCALHOST = {
  cert: readFileSync(join(fixtures, "localhost.crt")),
  key: readFileSync(join(fixtures, "localhost.key")),
};

/**
 * The server's socket as a port, with TLS if `tls` says so, as PostgreSQL offers it. `loses`: called for each piece of
 * an answer; true loses it and the connection. `freeze`: present connections stay open and deliver nothing more. `silent`: called for
 * each new connection; true answers it nothing.
 */
export async function forwarded(
  t: TestContext,
  made: TestDatabase,
  {
    tls = false,
    loses = () => false,
    silent = () => false,
  }: { tls?: boolean; loses?(): boolean; silent?(): boolean } = {},
): Promise<{ port: number; cut(): void; freeze(): void }> {
  const open = new Set<Socket>();
  const frozen = new Set<Socket>();
  const join = (near: Socket | TLSSocket, first: Buffer, socket: Socket) => {
    const far = connectSocket(`${made.socket}/.s.PGSQL.5432`);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    far.write(first);
    near.pipe(far);
    far.on("data", (data) => {
      if (loses()) far.destroy();
      else if (!frozen.has(socket)) near.write(data);
    });
  };
  const server = createServer((socket) => {
    open.add(socket.on("close", () => open.delete(socket)).on("error", () => {}));
    if (silent()) return;
    socket.once("data", (first: Buffer) => {
      const asksForTls = first.length === 8 && first.readInt32BE(4) === 80_877_103;
      if (!asksForTls) return join(socket, first, socket);
      socket.write(tls ? "S" : "N");
      if (!tls) return socket.once("data", (next: Buffer) => join(socket, next, socket));
      const secure = new TLSSocket(socket, { isServer: true, ...LOCALHOST });
      secure.on("error", () => socket.destroy());
      return secure.once("data", (next: Buffer) => join(secure, next, socket));
    });
  });
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const freeze = () => {
    for (const socket of open) frozen.add(socket);
  };
  t.after(() => {
    server.close();
    cut();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as { port: number }).port, cut, freeze };
}

/** Connections to `hosts`, and the reports of unencrypted ones. */
export function openTo(
  t: TestContext,
  { name }: TestDatabase,
  hosts: string,
  more: { query?: string; ca?: string; seen?: SeenGeneration; resolve?: Resolve } = {},
) {
  const text = `postgres://hand:sesame@${hosts}/${name}${more.query ?? ""}`;
  const url = readDatabaseUrl(text, { ca: more.ca !== undefined });
  if (typeof url === "string") throw new Error(url);
  const egress = boxEgress(more.resolve);
  const plain: string[] = [];
  const database = openDatabase({
    url,
    clock: systemClock,
    random: systemRandom,
    pool: 2,
    ca: more.ca ?? null,
    dial: (request) => egress.dial(request),
    onPlain: (why) => plain.push(why),
    ...(more.seen && { seen: more.seen }),
  });
  t.after(async () => {
    database.close();
    await egress.close();
  });
  return { database, plain };
}
