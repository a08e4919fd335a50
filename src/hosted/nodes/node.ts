import { type Clock, sleep } from "../../ground/kit/clock.ts";
import type { Log } from "../../ground/kit/log.ts";
import { StoreFault } from "../../ground/store/faults.ts";
import type { NodeInfo, Nodes } from "../registry/nodes.ts";

const RENEW_MS = 2_000;
/** A killed process counts as alive for 10 s, and for 30 s more where the database's clock was set back. */
const JOIN_MS = 42_000;
const JOIN_AGAIN_MS = 500;

export type LiveNode = Awaited<ReturnType<typeof startNode>>;

export interface NodeOptions {
  nodes: Nodes;
  /** The node's name, for messages. */
  name: string;
  clock: Clock;
  log: Log;
  version: string;
  /** The address at which it serves. */
  url(): string;
  /** Called once: a newer program has changed the registry so that this one can't use it any more. */
  onTooOld(): void;
  /** Called once: another process has this node's name now, because this one stood still for too long. */
  onReplaced(): void;
}

/**
 * Registers this node among those that share a registry. It renews every 2 s; each renewal is valid for 10 s. Rejects
 * with StoreFault `misconfigured` where another process has its name.
 */
export async function startNode(options: NodeOptions) {
  const { nodes, clock, log } = options;
  const state = { draining: false, stopped: false, failing: false, isTooOld: false };
  let ahead: number | null = null;
  let heardAt = clock.mono();
  let alive: number | null = null;
  let cancel = () => {};
  let renewing: Promise<void> = Promise.resolve();
  const sign = (): NodeInfo => ({
    url: options.url(),
    version: options.version,
    draining: state.draining,
  });

  const renew = async () => {
    try {
      const askedAt = clock.mono();
      const news = await nodes.renew(sign());
      if (state.failing) log.info("the database records this node again");
      state.failing = false;
      heardAt = clock.mono();
      if (news.kind === "replaced") {
        state.stopped = true;
        options.onReplaced();
        return;
      }
      // Half of the round trip lies on each side of the answer's moment.
      ahead = Math.round(clock.now() - (clock.mono() - askedAt) / 2 - news.atMs);
      alive = news.nodes;
      if (news.isTooOld && !state.isTooOld) {
        state.isTooOld = true;
        options.onTooOld();
      }
    } catch (error) {
      if (!state.failing)
        log.warn({ err: error }, "the database can't record that this node lives");
      state.failing = true;
    }
  };
  const loop = () => {
    cancel = clock.after(RENEW_MS, () => {
      renewing = renew().then(() => {
        if (!state.stopped) loop();
      });
    });
  };

  await join(options, sign);
  await renew();
  loop();
  return {
    /** Tells the other nodes that this one accepts no new work. */
    drain() {
      state.draining = true;
    },
    /** Milliseconds by which this node's clock is ahead of the registry's; null while unknown. */
    aheadMs: () => ahead,
    /** How many nodes live, by the latest answer; null before the first. */
    nodes: () => alive,
    /** Milliseconds since the registry last committed a renewal. */
    unheardMs: () => clock.mono() - heardAt,
    /** Tells the other nodes that this one is gone, if the registry answers. */
    async stop() {
      state.stopped = true;
      cancel();
      await renewing;
      await nodes
        .leave()
        .catch((error) => log.warn({ err: error }, "the other nodes weren't notified"));
    },
  };
}

async function join({ nodes, clock, name, log }: NodeOptions, sign: () => NodeInfo): Promise<void> {
  const until = clock.mono() + JOIN_MS;
  for (let tries = 0; !(await nodes.join(sign())); tries++) {
    if (tries === 0)
      log.info({ node: name }, "a process of this node's name lives, or lived just now");
    if (clock.mono() >= until)
      throw new StoreFault(
        "misconfigured",
        `Another process serves as node ${name}: give each its own data directory, or --node.`,
      );
    await sleep(clock, JOIN_AGAIN_MS);
  }
}
