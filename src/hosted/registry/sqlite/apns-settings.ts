import { type Apns, type ApnsSettings, apnsKeyPlace } from "../apns-settings.ts";
import type { Room } from "./room.ts";

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
          sealer.seal(settings.key, apnsKeyPlace),
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
      const key = sealer.open(sealed, apnsKeyPlace);
      return key === null ? { kind: "unreadable" } : { kind: "set", settings: { ...open, key } };
    },
    version: async () => store.sql<[], number>("SELECT version FROM apns").pluck().get() ?? 0,
  };
}
