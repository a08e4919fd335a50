import type { Sealer } from "../../ground/kit/sealer.ts";
import { sealPlace } from "../../ground/store/sealed.ts";
import type { Tx } from "../../ground/store/store.ts";

/** Credentials as a channel is called with them: each a text under its field's name. */
export type Credentials = Readonly<Record<string, string>>;

/** An integration's credentials, all in one sealed value beside its row. Its `url` is not among them. */
export function sealCredentials(sealer: Sealer, id: string, credentials: Credentials): string {
  return sealer.seal(JSON.stringify(credentials), sealPlace("integrations", "sealed", id));
}

/** null when they can't be opened: they must be entered again, or their key put back. */
export function openCredentials(
  sealer: Sealer,
  row: { id: string; sealed: string | null },
): Credentials | null {
  if (row.sealed === null) return {};
  const text = sealer.open(row.sealed, sealPlace("integrations", "sealed", row.id));
  return text === null ? null : (JSON.parse(text) as Credentials);
}

/** Stores what a channel learned of its own credentials in place of the old ones. */
export function learnCredentials(
  tx: Tx,
  sealer: Sealer,
  { integrationId: id, learned }: { integrationId: string; learned: Credentials },
): void {
  const row = tx
    .sql<[id: string], { id: string; sealed: string | null }>(
      "SELECT id, sealed FROM integrations WHERE id = ?",
    )
    .get(id);
  const credentials = row === undefined ? null : openCredentials(sealer, row);
  if (credentials === null) return;
  const sealed = sealCredentials(sealer, id, { ...credentials, ...learned });
  tx.sql<[sealed: string, id: string]>("UPDATE integrations SET sealed = ? WHERE id = ?").run(
    sealed,
    id,
  );
}
