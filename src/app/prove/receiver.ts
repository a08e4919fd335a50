import { hash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, sleep } from "../../ground/kit/clock.ts";
import { browser, type PushedBrowser, pushOf } from "./browser.ts";
import type { Received, SeenMessage, SeenPush } from "./evidence.ts";
import { type Seeded, seeded } from "./seeded.ts";

/** How a receiver behaves while faults are on: it answers, answers slowly, or fails three of ten requests. */
const receiverBehaviours = ["healthy", "slow", "flaky"] as const;
export type ReceiverBehaviour = (typeof receiverBehaviours)[number];

/** The endpoints that the box calls, with their ledgers. */
export type Receivers = Awaited<ReturnType<typeof startReceivers>>;

const FAILS = 0.3;
/** After a third failure of one event the retry would come too late for the drain. */
const MOST_FAILURES = 2;
const PUSH = "/push/";
const SLOW_MS = [20, 250] as const;

export async function startReceivers(clock: Clock, seed: number) {
  const arrivals: Received[] = [];
  const told: SeenMessage[] = [];
  const pushes: SeenPush[] = [];
  const browsers = new Map<number, PushedBrowser>();
  const failures = new Map<string, number>();
  const next: Record<"arrived" | "answered", (() => void) | null> = {
    arrived: null,
    answered: null,
  };
  let healed = false;
  let step = 0;

  const tell = (when: "arrived" | "answered") => {
    const fn = next[when];
    next[when] = null;
    fn?.();
  };

  /** Whether this request fails. */
  const fails = (known: string, choice: Seeded): boolean => {
    const before = failures.get(known) ?? 0;
    if (healed || before >= MOST_FAILURES || !choice.chance(FAILS)) return false;
    failures.set(known, before + 1);
    return true;
  };

  const tellPerson = (choice: Seeded, call: Call, body: Buffer) => {
    const { message, id } = messageOf(body);
    told.push(message);
    tell("arrived");
    if (fails(`person ${id}`, choice)) return fail(call, choice);
    if (call.response.destroyed) return;
    message.wasTaken = true;
    call.response.writeHead(204).end(() => tell("answered"));
  };

  const tellBrowser = (choice: Seeded, call: Call, body: Buffer) => {
    const device = Number(call.message.url?.slice(PUSH.length));
    const push = pushOf(openedBy(browsers.get(device), body), { device, at: clock.mono() });
    pushes.push(push);
    tell("arrived");
    const known = `browser ${device}`;
    // A real service that no longer knows the browser answers 404, and gets no more requests.
    if (fails(known, choice)) return fail(call, choice, [500, 503, 429]);
    if (call.response.destroyed) return;
    failures.delete(known);
    push.wasTaken = true;
    call.response.writeHead(201).end(() => tell("answered"));
  };

  const serve = async (temper: ReceiverBehaviour, choice: Seeded, call: Call) => {
    const body = await readAll(call.message).catch(() => null);
    // A body that a kill cut isn't a request.
    if (body === null) return;
    if (call.message.url === "/person") return tellPerson(choice, call, body);
    if (call.message.url?.startsWith(PUSH)) return tellBrowser(choice, call, body);
    const arrival = arrivalOf(call.message, body, ++step);
    arrivals.push(arrival);
    tell("arrived");
    if (temper === "slow" && !healed) await sleep(clock, choice.between(...SLOW_MS));
    const known = `${arrival.endpoint} ${arrival.eventId}`;
    if (temper === "flaky" && fails(known, choice)) return fail(call, choice);
    if (call.response.destroyed) return;
    arrival.acceptedAt = ++step;
    call.response.writeHead(choice.pick([200, 202, 204])).end(() => tell("answered"));
  };

  const servers = await Promise.all(
    receiverBehaviours.map(async (temper) => {
      const choice = seeded(seed, `receiver ${temper}`);
      const server = createServer({ keepAliveTimeout: 60_000 }, (message, response) => {
        void serve(temper, choice, { message, response });
      });
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      return { temper, server, port: (server.address() as AddressInfo).port };
    }),
  );
  const urls = Object.fromEntries(
    servers.map(({ temper, port }) => [temper, `http://127.0.0.1:${port}`]),
  ) as Record<ReceiverBehaviour, string>;
  return {
    /** `http://127.0.0.1:port` of each. The path names the endpoint. */
    urls,
    arrivals,
    /** Messages to a person's contact: requests below `/person`. */
    told,
    /** Pushes to browsers, decrypted with their keys: requests below `/push`. */
    pushes,
    /** The subscription of the browser with this number. Its push service is here. */
    subscription(n: number): ReturnType<PushedBrowser["subscription"]> {
      const one = browsers.getOrInsertComputed(n, () => browser());
      return one.subscription(`${urls.flaky}${PUSH}${n}`);
    },
    /** Calls `fn` once, with the next request, before or after it is answered. */
    onNext(when: "arrived" | "answered", fn: () => void) {
      next[when] = fn;
    },
    /** From now on all answer at once. */
    heal() {
      healed = true;
    },
    async close() {
      for (const { server } of servers) {
        server.closeAllConnections();
        await new Promise((done) => server.close(done));
      }
    },
  };
}

interface Call {
  message: IncomingMessage;
  response: ServerResponse;
}

function fail(
  { message, response }: Call,
  choice: Seeded,
  statuses: readonly number[] = [500, 503, 404, 429],
): void {
  const how = choice.pick(["status", "reset", "close"]);
  if (how === "reset") message.socket.resetAndDestroy();
  else if (how === "close") message.socket.destroy();
  else response.writeHead(choice.pick(statuses)).end();
}

/** null: the browser's keys can't decrypt it. */
function openedBy(one: PushedBrowser | undefined, body: Buffer): string | null {
  try {
    return one?.open(body) ?? null;
  } catch {
    return null;
  }
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function arrivalOf(message: IncomingMessage, body: Buffer, step: number): Received {
  const said = JSON.parse(body.toString()) as Record<string, unknown>;
  return {
    endpoint: (message.url ?? "").slice(1),
    eventId: String(said["event_id"]),
    alertId: String(said["alert_id"]),
    event: String(said["event"]),
    timestamp: Number(said["timestamp"]),
    digest: hash("sha256", body, "hex"),
    step,
    acceptedAt: null,
  };
}

function messageOf(body: Buffer): { message: SeenMessage; id: string } {
  const { id, purpose, code, alerts, acknowledge_url } = JSON.parse(body.toString()) as {
    id: string;
    purpose: string;
    code: string | null;
    alerts: { alert_id: string }[];
    acknowledge_url: string | null;
  };
  const alertIds = alerts.map(({ alert_id }) => alert_id);
  const link = acknowledge_url && new URL(acknowledge_url).pathname;
  return { message: { purpose, alertIds, code, link, wasTaken: false }, id };
}
