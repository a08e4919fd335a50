import { texts, type WatchedTable } from "./table.ts";

/** Accounts and the ways to sign in. */
export const peopleWatched: Readonly<Record<string, WatchedTable>> = {
  accounts: {
    kind: "account",
    id: "id",
    name: "email",
    fields: {
      ...texts("email", "display_name", "role", "timezone"),
      password_hash: ["password", "secret"],
    },
  },
  sessions: {
    kind: "session",
    id: "id",
    name: "method",
    fields: {
      ...texts("account_id", "method", "key_id", "passkey_id", "provider", "address", "agent"),
      hash: ["cookie", "secret"],
    },
  },
  passkeys: {
    kind: "passkey",
    id: "id",
    name: "name",
    fields: {
      ...texts("account_id", "name", "doubted_at"),
      rp_id: ["host", "text"],
      credential: ["credential", "secret"],
    },
  },
  sign_in_providers: {
    kind: "sign_in_provider",
    id: "id",
    name: "name",
    fields: {
      ...texts("name", "issuer", "client_id", "groups_claim"),
      scopes: ["scopes", "json"],
      roles: ["roles", "json"],
      domains: ["domains", "json"],
      sealed_secret: ["client_secret", "secret"],
    },
  },
  oidc_links: {
    kind: "provider_link",
    id: "id",
    name: "issuer",
    fields: { ...texts("account_id", "issuer", "subject") },
  },
  sign_in: {
    kind: "sign_in",
    id: "id",
    name: "id",
    fields: { password: ["password", "flag"] },
  },
  walls: {
    kind: "wall",
    id: "id",
    name: "name",
    fields: { name: ["name", "text"], messages: ["messages", "flag"], hash: ["link", "secret"] },
  },
  api_keys: {
    kind: "key",
    id: "id",
    name: "hint",
    fields: { ...texts("account_id", "label"), hash: ["key", "secret"] },
  },
  pair_codes: {
    kind: "pairing_code",
    id: "id",
    name: "id",
    fields: {
      ...texts("role", "email", "expires_at", "used_at"),
      account_id: ["sets_password_of", "text"],
      hash: ["code", "secret"],
    },
  },
  devices: {
    kind: "device",
    id: "account_id",
    name: "platform",
    fields: {
      platform: ["platform", "text"],
      critical_alerts: ["critical_alerts", "flag"],
      token: ["token", "secret"],
    },
  },
};
