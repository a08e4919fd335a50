import { type Apns, type ApnsSettings, apnsPlaces } from "../apns-settings.ts";
import { type PostgresDeps, seconds } from "./deps.ts";

/** A version counts as current for so long after it was read. */
const FRESH_MS = 1_000;

export function postgresApns(deps: PostgresDeps): Apns {
  const { database, sealer } = deps;
  return {
    async set(settings) {
      await database.transaction(
        async (tx) => {
          const { keyId, teamId, topic, endpoint, ca } = settings;
          await tx.query(
            `INSERT INTO apns AS a (id, version, key_id, team_id, topic, endpoint, ca, sealed)
             VALUES (1, 1, $1, $2, $3, $4, $5, $6)
             ON CONFLICT (id) DO UPDATE SET version = a.version + 1, key_id = $1, team_id = $2,
               topic = $3, endpoint = $4, ca = $5, sealed = $6`,
            [keyId, teamId, topic, endpoint, ca, sealer.seal(settings.key, apnsPlaces.key)],
          );
          await tx.query("DELETE FROM apns_tokens");
        },
        { repeatable: true },
      );
    },
    async get() {
      const [row] = await database.query<
        Omit<ApnsSettings, "key"> & { version: number; sealed: string }
      >(
        `SELECT version, key_id AS "keyId", team_id AS "teamId", topic, endpoint, ca, sealed FROM apns`,
      );
      if (row === undefined) return { kind: "none" };
      const { version, sealed, ...open } = row;
      const key = sealer.open(sealed, apnsPlaces.key);
      if (key === null) return { kind: "unreadable" };
      return { kind: "set", version, settings: { ...open, key } };
    },
    version: rememberedVersion(deps),
    async token() {
      const [row] = await database.query<{ at: number; iat: number | null; sealed: string | null }>(
        `SELECT ${seconds("now()")} AS at, t.iat, t.sealed
         FROM (VALUES (1)) AS one LEFT JOIN apns_tokens t ON true ORDER BY t.iat DESC LIMIT 1`,
      );
      if (row === undefined) throw new Error("one row gave none");
      const { at, iat, sealed } = row;
      if (iat === null || sealed === null) return { at, token: null };
      return { at, token: { iat, jwt: sealer.open(sealed, apnsPlaces.token) } };
    },
    keepToken: (fresh) => keepToken(deps, fresh),
  };
}

/** The settings' version, read at most once a second. Where the database doesn't answer, the last one is used. */
function rememberedVersion({ database, clock }: PostgresDeps): () => Promise<number> {
  let known: { version: number; mono: number } | null = null;
  let reading: Promise<number> | null = null;
  const read = async () => {
    const mono = clock.mono();
    const [row] = await database.query<{ version: number }>("SELECT version FROM apns");
    const version = row?.version ?? 0;
    known = { version, mono };
    return version;
  };
  return () => {
    const last = known;
    if (last !== null && clock.mono() - last.mono < FRESH_MS) return Promise.resolve(last.version);
    reading ??= read().finally(() => {
      reading = null;
    });
    return last === null ? reading : reading.catch(() => last.version);
  };
}

/**
 * Compares and sets. Locks the settings' row, so that one of several nodes is first. A repetition after a lost answer
 * finds its own token, which counts as stored.
 */
async function keepToken(
  { database, sealer }: PostgresDeps,
  { version, iat, jwt, instead }: Parameters<Apns["keepToken"]>[0],
): Promise<boolean> {
  const sealed = sealer.seal(jwt, apnsPlaces.token);
  return database.transaction(
    async (tx) => {
      const [settings] = await tx.query<{ keyId: string }>(
        `SELECT key_id AS "keyId" FROM apns WHERE version = $1 FOR UPDATE`,
        [version],
      );
      const [stored] = await tx.query<{ iat: number; sealed: string }>(
        "SELECT iat, sealed FROM apns_tokens",
      );
      if (stored?.sealed === sealed) return true;
      if (settings === undefined || (stored?.iat ?? null) !== instead) return false;
      await tx.query("DELETE FROM apns_tokens");
      await tx.query("INSERT INTO apns_tokens (key_id, sealed, iat) VALUES ($1, $2, $3)", [
        settings.keyId,
        sealed,
        iat,
      ]);
      return true;
    },
    { repeatable: true },
  );
}
