import type { Tx } from "../../../ground/store/store.ts";
import { type Apns, type ApnsSettings, apnsPlaces } from "../apns-settings.ts";
import type { SqliteDeps } from "./deps.ts";

type FreshToken = Parameters<Apns["keepToken"]>[0];

export function sqliteApns(deps: SqliteDeps): Apns {
  const { store, sealer } = deps;
  return {
    set: (settings) => deps.write((tx) => set(tx, settings, deps)),
    async get() {
      const row = store
        .sql<[], Omit<ApnsSettings, "key"> & { version: number; sealed: string }>(
          "SELECT version, key_id AS keyId, team_id AS teamId, topic, endpoint, ca, sealed FROM apns",
        )
        .get();
      if (row === undefined) return { kind: "none" };
      const { version, sealed, ...open } = row;
      const key = sealer.open(sealed, apnsPlaces.key);
      if (key === null) return { kind: "unreadable" };
      return { kind: "set", version, settings: { ...open, key } };
    },
    version: async () => store.sql<[], number>("SELECT version FROM apns").pluck().get() ?? 0,
    async token() {
      const at = Math.floor(store.clock.now() / 1000);
      const row = store
        .sql<[], { iat: number; sealed: string }>("SELECT iat, sealed FROM apns_tokens")
        .get();
      if (row === undefined) return { at, token: null };
      return { at, token: { iat: row.iat, jwt: sealer.open(row.sealed, apnsPlaces.token) } };
    },
    keepToken: (fresh) => deps.write((tx) => keepToken(tx, fresh, deps)),
  };
}

function set(tx: Tx, settings: ApnsSettings, { sealer }: SqliteDeps): void {
  tx.sql<[string, string, string, string, string | null, string]>(
    `INSERT INTO apns (id, version, key_id, team_id, topic, endpoint, ca, sealed)
     VALUES (1, 1, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET version = version + 1, key_id = excluded.key_id,
       team_id = excluded.team_id, topic = excluded.topic, endpoint = excluded.endpoint,
       ca = excluded.ca, sealed = excluded.sealed`,
  ).run(
    settings.keyId,
    settings.teamId,
    settings.topic,
    settings.endpoint,
    settings.ca,
    sealer.seal(settings.key, apnsPlaces.key),
  );
  tx.sql<[]>("DELETE FROM apns_tokens").run();
}

function keepToken(tx: Tx, fresh: FreshToken, { sealer }: SqliteDeps): boolean {
  const stored = tx.sql<[], number>("SELECT iat FROM apns_tokens").pluck().get() ?? null;
  if (stored !== fresh.instead) return false;
  const kept = tx
    .sql<{ iat: number; sealed: string; version: number }>(
      `INSERT INTO apns_tokens (key_id, sealed, iat) SELECT key_id, @sealed, @iat FROM apns WHERE version = @version
       ON CONFLICT DO UPDATE SET sealed = @sealed, iat = @iat`,
    )
    .run({
      iat: fresh.iat,
      sealed: sealer.seal(fresh.jwt, apnsPlaces.token),
      version: fresh.version,
    });
  return kept.changes > 0;
}
