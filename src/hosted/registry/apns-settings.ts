import type { Room } from "./room.ts";

export interface ApnsSettings {
  keyId: string;
  teamId: string;
  /** The app's bundle id. */
  topic: string;
  /** "https://host[:port]". */
  endpoint: string;
  /** PEM of the only authority to trust there; null: those the runtime trusts. */
  ca: string | null;
  /** The .p8 file's text. */
  key: string;
}

export type StoredApns =
  | { kind: "none" }
  /** Sealed under a key that is not at hand: it must be set again. */
  | { kind: "unreadable" }
  | { kind: "set"; settings: ApnsSettings };

export interface Apns {
  set(settings: ApnsSettings): Promise<void>;
  get(): Promise<StoredApns>;
  /** Rises with every `set`; 0: never set. Cheap, so that a change is noticed at the next push. */
  version(): Promise<number>;
}

const CONTEXT = "apns|key";

export function apnsIn(room: Room): Apns {
  const { store, sealer } = room;
  return {
    set: (settings) =>
      room.write((tx) => {
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
          sealer.seal(settings.key, CONTEXT),
        );
      }),
    async get() {
      const row = store
        .sql<[], Omit<ApnsSettings, "key"> & { sealed: string }>(
          "SELECT key_id AS keyId, team_id AS teamId, topic, endpoint, ca, sealed FROM apns",
        )
        .get();
      if (row === undefined) return { kind: "none" };
      const { sealed, ...open } = row;
      const key = sealer.open(sealed, CONTEXT);
      return key === null ? { kind: "unreadable" } : { kind: "set", settings: { ...open, key } };
    },
    version: async () => store.sql<[], number>("SELECT version FROM apns").pluck().get() ?? 0,
  };
}
