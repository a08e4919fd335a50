/** Jobs that one node does at a time. */
export type NodeJob = "silence" | "purge";

/** What a node reports about itself. */
export interface NodeInfo {
  /** Its address, for the operator. */
  url: string;
  /** Its program's version. */
  version: string;
  /** It finishes what has begun and accepts no new work. */
  draining: boolean;
}

type NodeStatus =
  /**
   * `atMs`: the registry's time in milliseconds. `nodes`: how many live now, with this one. `isTooOld`: a newer program
   * has changed the registry.
   */
  | { kind: "alive"; atMs: number; nodes: number; isTooOld: boolean }
  /** Another process has its name now, or the registry was moved away. */
  | { kind: "replaced" };

/** The nodes that share a registry. Each has a name of its own, and lives for 10 s after each renewal. */
export interface Nodes {
  /** False: another process has this node's name. Rejects with StoreFault where the registry has moved away. */
  join(sign: NodeInfo): Promise<boolean>;
  renew(sign: NodeInfo): Promise<NodeStatus>;
  leave(): Promise<void>;
  /** Whether this node has the job for the next 20 s. */
  lead(job: NodeJob): Promise<boolean>;
}
