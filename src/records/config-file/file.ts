import * as z from "zod";
import { filePeople } from "./accounts.ts";
import { fileProject, named } from "./shape.ts";
import { tenantConfig } from "./tenant.ts";

/** The file of `box config`. */
export const configFile = z.strictObject({
  format: z.literal(1),
  /** Accounts that the file doesn't name stay as they are. */
  people: filePeople.optional(),
  tenant: tenantConfig.optional(),
  projects: named(fileProject, 1000),
});

/** The file's value as it is written, without values that equal their defaults. */
export type ConfigFileInput = z.input<typeof configFile>;
