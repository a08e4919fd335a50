/** The files of a hosted data directory (contract §1); each tenant's store lies below `tenants`. */
export const hostedFiles = {
  registry: "hosted.db",
  key: "hosted.key",
  /** This node's name, where several nodes share a database. */
  node: "node.id",
  /** The latest generation of the database that this node has seen. */
  seen: "node.database",
  tenants: "tenants",
} as const;
