/** What only one of the nodes does at a time. */
export type NodeJob = "silence" | "purge";

/** What a node says of itself. */
export interface NodeInfo {
  /** Where it serves, for the operator. */
  url: string;
  /** Its program's version. */
  version: string;
  /** It serves what still comes, and takes on nothing. */
  draining: boolean;
}

export type NodeStatus =
  /**
   * `atMs`: the registry's time in milliseconds. `nodes`: how many live now, this one included. `isTooOld`: a newer
   * program has changed the registry since.
   */
  | { kind: "alive"; atMs: number; nodes: number; isTooOld: boolean }
  /** It was not heard for so long that another process has its name now, or that the registry was moved. */
  | { kind: "replaced" };

/** The nodes that share a registry: each lives under a name of its own, for 10 s from each word of it. */
export interface Nodes {
  /** False: another process lives under this node's name. Rejects with StoreFault where the registry has moved away. */
  join(sign: NodeInfo): Promise<boolean>;
  renew(sign: NodeInfo): Promise<NodeStatus>;
  leave(): Promise<void>;
  /** Whether this node is the one that does the job, for the next 20 s. */
  lead(job: NodeJob): Promise<boolean>;
}
