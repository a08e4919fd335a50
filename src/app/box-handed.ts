import { version } from "../ground/kit/assets.ts";
import { type Clock, sleep } from "../ground/kit/clock.ts";
import { hexId } from "../ground/kit/ids.ts";
import type { Keeper } from "../ground/store/record/keeper.ts";
import { toHandOver } from "../ground/store/record/standing.ts";
import {
  dropUnconfirmed,
  openUnconfirmed,
  readUnconfirmed,
  setUnconfirmedAside,
  type Unconfirmed,
} from "../ground/store/record/unconfirmed.ts";
import {
  endOfEpoch,
  forgetRows,
  type HandedRow,
  handedRows,
  handRows,
  rowsAside,
  setRowsAside,
} from "../hosted/record/handed.ts";
import { type FailedUpgrade, failedUpgrades } from "../hosted/record/taking.ts";
import type { Database } from "../hosted/registry/postgres/connect.ts";
import type { Tenant } from "../tenant/tenant.ts";
import { takeToldRows } from "../tenant/told-elsewhere.ts";
import type { BoxDeps } from "./parts.ts";

const LOOK_MS = 5_000;
const KEPT_MS = 250;
const AT_ONCE = 500;

export const unconfirmedOf = (
  data: string,
  of: () => { tenant: string | null; epoch: number },
  { random }: BoxDeps,
): Unconfirmed => openUnconfirmed(data, () => ({ id: hexId(random), ...of() }));

/**
 * Hands what this machine confirmed while its disk alone had it to whoever has the box now. `epoch`: the last under which it
 * was this machine's; null where the directory doesn't say so, and the file alone does. Before the store makes way, and before
 * it is taken again.
 */
export async function handOverTold(
  data: string,
  { epoch, ...of }: { database: Database; tenantId: string; epoch: number | null },
  { log }: Pick<BoxDeps, "log">,
): Promise<void> {
  const told = readUnconfirmed(data);
  if (told === null) return;
  if (epoch === null && told.tenant !== of.tenantId)
    return log.error(
      { file: setUnconfirmedAside(data, told) },
      "what was confirmed while only this disk had it isn't handed over: nothing says that it is of the database's box. The file is kept",
    );
  const ended = await endOfEpoch(of.database, { ...of, epoch: epoch ?? told.epoch });
  const lines = toHandOver(told.lines, ended);
  const whats = lines.map(({ what }) => JSON.stringify(what));
  await handRows(of.database, of.tenantId, { id: told.id, whats });
  dropUnconfirmed(data);
  log.warn(
    { lines: lines.length },
    "what was confirmed while only this disk had it is handed over to whoever has the box",
  );
}

interface Left {
  database: Database;
  tenant: Pick<Tenant, "id">;
  keeper: Pick<Keeper, "latest" | "state">;
  /** Takes the rows of one file, in order. */
  take(id: string, rows: readonly HandedRow[]): void | Promise<void>;
}

/** Takes what lies in the database for a store, and forgets it once the database has what was made of it. */
export async function takeLeftRows(
  { database, tenant, keeper, take }: Left,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  const rows = await handedRows(database, tenant.id, { version, most: AT_ONCE });
  for (const id of new Set(rows.map((row) => row.id))) {
    const of = rows.filter((row) => row.id === id);
    await take(id, of);
    // Until the database has it, another machine would have to take it.
    const upTo = keeper.latest();
    while (keeper.state().keptUpTo < upTo && !signal.aborted) await sleep(clock, KEPT_MS, signal);
    if (signal.aborted) return;
    await forgetRows(database, tenant.id, { id, n: of.at(-1)?.n ?? 0 });
  }
}

/** Takes what other machines hand over, and hears what is wrong with them, while this one has the box. */
export function takeHanded(
  {
    database,
    tenant,
    keeper,
  }: { database: Database; tenant: Pick<Tenant, "id" | "store" | "ingest">; keeper: Keeper },
  { clock, log }: Pick<BoxDeps, "clock" | "log">,
) {
  const over = new AbortController();
  let aside: number | null = null;
  let failed: readonly FailedUpgrade[] = [];
  const take = async (id: string, rows: readonly HandedRow[]) => {
    const counts = await takeToldRows(tenant, rows, (numbers) =>
      setRowsAside(database, tenant.id, { id, version, numbers }),
    );
    if (counts.unread > 0) aside = null;
    log.warn(counts, "what another machine confirmed while it had no database is taken");
  };
  const look = async () => {
    await takeLeftRows({ database, tenant, keeper, take }, { clock, signal: over.signal });
    if (!over.signal.aborted) aside ??= await rowsAside(database, tenant.id, version);
    if (!over.signal.aborted) failed = await failedUpgrades(database);
  };
  const run = async () => {
    for (let isSaid = false; !over.signal.aborted; await sleep(clock, LOOK_MS, over.signal)) {
      if (keeper.state().aloneSince !== null) continue;
      try {
        await look();
        isSaid = false;
      } catch (error) {
        if (!isSaid) log.warn({ err: error }, "what is handed over can't be taken");
        isSaid = true;
      }
    }
  };
  const running = run();
  return {
    /** How many lines wait for a program of another version, because this one can't read them. */
    aside: () => aside ?? 0,
    /** Machines that stand by, and couldn't upgrade the box; none where this one is alone, and doesn't hear of them. */
    failed: () => (keeper.state().aloneSince === null ? failed : []),
    async stop() {
      over.abort();
      await running;
    },
  };
}
