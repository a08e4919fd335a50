import type { Clock } from "../ground/kit/clock.ts";
import { createEgress } from "../ground/kit/egress.ts";
import { type KeyRing, loadKeyRing } from "../ground/kit/key-ring.ts";
import type { BoxConfig } from "./config.ts";
import { dialMachine, openMachineLink, type TakeSocket } from "./machine-link.ts";
import type { BoxDeps } from "./parts.ts";
import { createForwarder, type Forwarder } from "./standby-forward.ts";

/** What joins this machine with the other ones of its box. */
export interface BoxLink {
  /** Where they reach it. */
  address: string;
  /** For a machine that stands by: sends on what comes to it. */
  forwarder: Forwarder;
  /** From now on what comes by the link, and what was held, is these ports'. */
  serve(taker: (port: string) => TakeSocket | null): void;
  close(): Promise<void>;
}

/** The files are read again after so long: keys are added while it runs. */
const KEYS_MS = 2_000;
const CONNECT_MS = 2_000;

/** Opens the link; null without --cluster-listen. Throws why it can't listen. */
export async function openBoxLink(
  { cluster, data }: BoxConfig,
  { clock, log }: BoxDeps,
): Promise<BoxLink | null> {
  if (cluster === null) return null;
  const keys = keysOf(data, clock);
  const egress = createEgress({ clock, rules: { role: "box" }, connectMs: CONNECT_MS });
  let serving: (port: string) => TakeSocket | null = () => null;
  const link = await openMachineLink(cluster.listen, {
    clock,
    keys,
    taker: (port) => serving(port),
  });
  const { host, port } = cluster.address ?? cluster.listen;
  const address = `${host.includes(":") ? `[${host}]` : host}:${port || link.port}`;
  log.info({ listen: address }, "listening for the box's other machines");
  const forwarder = createForwarder(clock, (to, came) =>
    dialMachine(placeOf(to), came, { clock, egress, keys }),
  );
  return {
    address,
    forwarder,
    serve(taker) {
      serving = taker;
      forwarder.giveTo(taker);
    },
    async close() {
      forwarder.close();
      await Promise.all([link.close(), egress.close()]);
    },
  };
}

function placeOf(address: string): { host: string; port: number } {
  const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  return { host, port: Number(port) };
}

function keysOf(data: string, clock: Clock): () => KeyRing | null {
  let known: { ring: KeyRing | null; at: number } | null = null;
  return () => {
    if (known === null || clock.mono() - known.at > KEYS_MS)
      known = { ring: loadKeyRing(data, "box.key").ring, at: clock.mono() };
    return known.ring;
  };
}
