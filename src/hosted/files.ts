/** The files of a hosted data directory (decisions §1); each tenant's store lies below `tenants`. */
export const hostedFiles = {
  registry: "hosted.db",
  key: "hosted.key",
  tenants: "tenants",
} as const;
