import { dirname } from "node:path";
import { commandAt } from "../../ground/kit/shell.ts";
import type { Tenant } from "../../tenant/tenant.ts";

/** A command for the machine where the box runs: on its own data directory, whatever folder it is typed in. */
export const onMachine = ({ store }: Tenant, command: string): string =>
  commandAt(command, dirname(store.db.name));
