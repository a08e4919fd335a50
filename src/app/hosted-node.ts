import { version } from "../ground/kit/assets.ts";
import { sleep } from "../ground/kit/clock.ts";
import { StoreFault } from "../ground/store/faults.ts";
import { nodeNameOf } from "../hosted/nodes/name.ts";
import { type LiveNode, type NodeOptions, startNode } from "../hosted/nodes/node.ts";
import type { DatabaseLoad } from "../hosted/registry/load.ts";
import type { Registry } from "../hosted/registry/registry.ts";
import { onceItAnswers } from "./database-wait.ts";
import type { HostedConfig } from "./hosted-config.ts";
import type { NodeState } from "./operate/hosted-health.ts";
import type { BoxDeps } from "./parts.ts";

/** This process, alone or as one of the nodes that share a registry. */
export type HostedNode = Awaited<ReturnType<typeof startHostedNode>>;

function databaseOf(live: LiveNode | null, load: DatabaseLoad | null): NodeState["database"] {
  if (live === null || load === null) return null;
  return { unheardMs: live.unheardMs(), aheadMs: live.aheadMs(), nodes: live.nodes(), load };
}

interface HostedNodeParts {
  registry: Registry;
  name: string;
  /** Its address. */
  url(): string;
  /** Stops the whole service. */
  stop(): Promise<void>;
}

/** The node's name. A process that is alone never shows it. */
export const nameOfNode = (config: HostedConfig, { random }: BoxDeps): string =>
  config.database === null ? "" : (config.node ?? nodeNameOf(config.data, random));

/** Registers the node's name, unless it is alone. Rejects with StoreFault where another process has the name. */
export async function startHostedNode(
  config: HostedConfig,
  deps: BoxDeps,
  { registry, name, url, stop }: HostedNodeParts,
) {
  const { clock, log } = deps;
  let isDraining = false;
  let live: LiveNode | null = null;
  /** Makes readiness fail, and waits while requests are still served. */
  const drain = async (atOnce?: AbortSignal) => {
    isDraining = true;
    live?.drain();
    await sleep(clock, config.drainSeconds * 1000, atOnce);
  };
  const leave = async () => {
    await drain();
    await stop();
    const { tooOld } = await import("../hosted/registry/postgres/migrate.ts");
    deps.onFatal(tooOld());
  };
  const { nodes } = registry;
  if (nodes !== null) {
    const options: NodeOptions = {
      nodes,
      name,
      clock,
      log,
      version,
      url,
      onTooOld() {
        log.error("a newer program has changed the database: this node drains and ends");
        void leave();
      },
      onReplaced() {
        const why = `While node ${name} was stopped, another process took its name, or its registry was moved.`;
        deps.onFatal(new StoreFault("misconfigured", why));
      },
    };
    live = await onceItAnswers(deps, () => startNode(options));
  }
  return {
    state: () => ({ draining: isDraining, database: databaseOf(live, registry.load()) }),
    drain,
    stop: async () => live?.stop(),
  };
}
