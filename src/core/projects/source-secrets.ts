import { eq } from "drizzle-orm";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { sources } from "../../ground/store/schema.ts";
import { sealPlace } from "../../ground/store/sealed.ts";
import type { Tx } from "../../ground/store/store.ts";
import { changeConfig, type Project } from "./projects.ts";
import { getSource, type Source } from "./sources.ts";

/** Sets what a source's sender signs with; null: nothing any more. Throws 404. */
export function setSourceSecret(
  tx: Tx,
  project: Project,
  { name, secret, sealer }: { name: string; secret: string | null; sealer: Sealer },
): void {
  const { id } = getSource(tx, project, name);
  const sealedSecret =
    secret === null ? null : sealer.seal(secret, sealPlace("sources", "sealed_secret", id));
  tx.orm.update(sources).set({ sealedSecret }).where(eq(sources.id, id)).run();
  changeConfig(tx, project.id);
  tx.note({ topic: "sources" });
}

/** null where it can't be opened, because its key is lost. */
export function openSourceSecret(
  sealer: Sealer,
  { id, sealedSecret }: Pick<Source, "id"> & { sealedSecret: string },
): string | null {
  return sealer.open(sealedSecret, sealPlace("sources", "sealed_secret", id));
}
