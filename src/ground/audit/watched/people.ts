import { times, type WatchedTable } from "./table.ts";

/** Accounts, and the ways in. */
export const peopleWatched: Readonly<Record<string, WatchedTable>> = {
  accounts: {
    ...{ kind: "account", id: "id", name: "email" },
    fields: {
      email: ["email", "text"],
      display_name: ["display_name", "text"],
      role: ["role", "text"],
      password_hash: ["password", "secret"],
    },
    passed: ["email_folded", "created_at", "signed_in_at"],
  },
  sessions: {
    ...{ kind: "session", id: "id", name: "method" },
    fields: {
      account_id: ["account_id", "text"],
      method: ["method", "text"],
      key_id: ["key_id", "text"],
      passkey_id: ["passkey_id", "text"],
      provider: ["provider", "text"],
      address: ["address", "text"],
      agent: ["agent", "text"],
      hash: ["cookie", "secret"],
    },
    passed: ["created_at", "last_seen_at", "expires_at"],
  },
  passkeys: {
    ...{ kind: "passkey", id: "id", name: "name" },
    fields: {
      account_id: ["account_id", "text"],
      name: ["name", "text"],
      rp_id: ["host", "text"],
      doubted_at: ["doubted_at", "text"],
      credential: ["credential", "secret"],
    },
    passed: ["public_key", "counter", "transports", "created_at", "last_used_at"],
  },
  sign_in_providers: {
    ...{ kind: "sign_in_provider", id: "id", name: "name" },
    fields: {
      ...{ name: ["name", "text"], issuer: ["issuer", "text"], client_id: ["client_id", "text"] },
      ...{ scopes: ["scopes", "json"], groups_claim: ["groups_claim", "text"] },
      ...{ roles: ["roles", "json"], domains: ["domains", "json"] },
      sealed_secret: ["client_secret", "secret"],
    },
    passed: times,
  },
  oidc_links: {
    ...{ kind: "provider_link", id: "id", name: "issuer" },
    fields: {
      account_id: ["account_id", "text"],
      issuer: ["issuer", "text"],
      subject: ["subject", "text"],
    },
    passed: ["created_at", "last_used_at"],
  },
  sign_in: {
    ...{ kind: "sign_in", id: "id", name: "id" },
    fields: { password: ["password", "flag"] },
    passed: [],
  },
  walls: {
    ...{ kind: "wall", id: "id", name: "name" },
    fields: { name: ["name", "text"], messages: ["messages", "flag"], hash: ["link", "secret"] },
    passed: ["account_id", "created_at", "last_seen_at"],
  },
  api_keys: {
    ...{ kind: "key", id: "id", name: "hint" },
    fields: {
      account_id: ["account_id", "text"],
      label: ["label", "text"],
      hash: ["key", "secret"],
    },
    passed: ["created_at", "last_used_at"],
  },
  pair_codes: {
    ...{ kind: "pairing_code", id: "id", name: "id" },
    fields: {
      role: ["role", "text"],
      email: ["email", "text"],
      expires_at: ["expires_at", "text"],
      used_at: ["used_at", "text"],
      account_id: ["sets_password_of", "text"],
      hash: ["code", "secret"],
    },
    passed: ["issued_by", "created_at"],
  },
  devices: {
    ...{ kind: "device", id: "account_id", name: "platform" },
    fields: {
      platform: ["platform", "text"],
      critical_alerts: ["critical_alerts", "flag"],
      token: ["token", "secret"],
    },
    passed: ["created_at", "last_seen_at"],
  },
};
