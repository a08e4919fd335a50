import { z } from "zod";
import { filePeople } from "./accounts.ts";
import { fileProject, named } from "./shape.ts";
import { tenantConfig } from "./tenant.ts";

/** The file of `box config`. */
export const configFile = z.strictObject({
  format: z.literal(1),
  /** Left out, and for whoever isn't named: accounts stay as they are. */
  people: filePeople.optional(),
  tenant: tenantConfig.optional(),
  projects: named(fileProject, 1000),
});

/** The file's value as it is written: what is left out is at its default. */
export type ConfigFileInput = z.input<typeof configFile>;
