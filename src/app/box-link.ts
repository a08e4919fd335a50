import type { Clock } from "../ground/kit/clock.ts";
import { createEgress } from "../ground/kit/egress.ts";
import { type KeyRing, loadKeyRing } from "../ground/kit/key-ring.ts";
import type { BoxConfig } from "./config.ts";
import { type Came, dialMachine, openMachineLink, type TakeSocket } from "./machine-link.ts";
import type { BoxDeps } from "./parts.ts";
import { createForwarder, type Forwarder } from "./standby-forward.ts";

/** What joins this process with others of the same key. */
export type NodeLink = Awaited<ReturnType<typeof openNodeLink>>;

/** What joins this machine with the other ones of its box. */
export interface BoxLink extends Omit<NodeLink, "dial"> {
  /** For a machine that stands by: sends on what comes to it. What is held is served with what comes. */
  forwarder: Forwarder;
}

/** The files are read again after so long: keys are added while it runs. */
const KEYS_MS = 2_000;
const CONNECT_MS = 2_000;

/** Opens the link; `key`: the file of the key that all have. Throws why it can't listen. */
export async function openNodeLink(
  cluster: NonNullable<BoxConfig["cluster"]>,
  key: { dir: string; name: string },
  { clock, log }: BoxDeps,
) {
  const keys = keysOf(key, clock);
  const egress = createEgress({ clock, rules: { role: "box" }, connectMs: CONNECT_MS });
  let serving: (port: string) => TakeSocket | null = () => null;
  const link = await openMachineLink(cluster.listen, {
    clock,
    keys,
    taker: (port) => serving(port),
  });
  const { host, port } = cluster.address ?? cluster.listen;
  const address = `${host.includes(":") ? `[${host}]` : host}:${port || link.port}`;
  log.info({ listen: address }, "listening for the other machines");
  return {
    /** Where they reach it. */
    address,
    /** Opens a connection to another one. */
    dial: (to: string, came: Came) => dialMachine(placeOf(to), came, { clock, egress, keys }),
    /** From now on what comes by the link is these ports'. */
    serve(taker: (port: string) => TakeSocket | null) {
      serving = taker;
    },
    async close() {
      await Promise.all([link.close(), egress.close()]);
    },
  };
}

/** Opens a box's link; null without --cluster-listen. Throws why it can't listen. */
export async function openBoxLink(
  { cluster, data }: BoxConfig,
  deps: BoxDeps,
): Promise<BoxLink | null> {
  if (cluster === null) return null;
  const link = await openNodeLink(cluster, { dir: data, name: "box.key" }, deps);
  const forwarder = createForwarder(deps.clock, link.dial);
  return {
    address: link.address,
    forwarder,
    serve(taker) {
      link.serve(taker);
      forwarder.giveTo(taker);
    },
    async close() {
      forwarder.close();
      await link.close();
    },
  };
}

function placeOf(address: string): { host: string; port: number } {
  const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  return { host, port: Number(port) };
}

function keysOf({ dir, name }: { dir: string; name: string }, clock: Clock): () => KeyRing | null {
  let known: { ring: KeyRing | null; at: number } | null = null;
  return () => {
    if (known === null || clock.mono() - known.at > KEYS_MS)
      known = { ring: loadKeyRing(dir, name).ring, at: clock.mono() };
    return known.ring;
  };
}
