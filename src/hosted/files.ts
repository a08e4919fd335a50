/** The files of a hosted data directory (contract §1); each tenant's store lies below `tenants`. */
export const hostedFiles = {
  registry: "hosted.db",
  key: "hosted.key",
  tenants: "tenants",
} as const;
