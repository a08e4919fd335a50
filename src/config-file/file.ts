import { z } from "zod";
import { fileProject, named } from "./shape.ts";
import { tenantConfig } from "./tenant.ts";

/** The file of `box config`. */
export const configFile = z.strictObject({
  format: z.literal(1),
  tenant: tenantConfig.optional(),
  projects: named(fileProject, 1000),
});
