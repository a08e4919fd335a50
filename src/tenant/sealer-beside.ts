import { dirname } from "node:path";
import type { Log } from "../ground/kit/log.ts";
import { fileSealer, type Sealer } from "../ground/kit/sealer.ts";
import { sealedKeyIds, unreadableRows } from "../ground/store/sealed.ts";
import type { Store } from "../ground/store/store.ts";

const KEY_FILE = "box.key";

/** A box starts even where a key is missing that stored values need, and reports what is lost (contract §10). */
export function sealerBeside(store: Store, path: string, log: Log): Sealer {
  const sealer = fileSealer({
    dir: dirname(path),
    name: KEY_FILE,
    inUse: sealedKeyIds(store),
    clock: store.clock,
    random: store.random,
  });
  for (const { file, problem } of sealer.faults) log.error({ file, problem }, "key file unusable");
  const rows = unreadableRows(store, sealer);
  if (rows.length > 0)
    log.error(
      { rows, keys: sealer.missing },
      "stored credentials can't be opened: put their key back, or enter them again",
    );
  return sealer;
}
