/**
 * What the audit looks at: each table that people change, how its things are called, and which columns are told. A test
 * holds this list against the migrations, so that a new table or column is told, kept secret or passed over on purpose.
 */

/**
 * How a column is told. `text`: as it is, numbers too. `flag`: 0 and 1 as false and true. `json`: an object field by field,
 * a list as a whole. `secret`: that it changed, and nothing of it.
 */
type Told = "text" | "flag" | "json" | "secret";

export interface WatchedTable {
  /** The noun. */
  kind: string;
  /** Columns; `id` is what the thing keeps for life. */
  id: string;
  name: string;
  /** It has a column `project_id`. */
  inProject?: true;
  /** Of the rows of this table only those of which this holds: SQL over `ROW`. */
  only?: string;
  /** New and deleted rows are no person's doing, or too many to tell of. */
  changesOnly?: true;
  /** Column → the field as the interface calls it, and how it is told. A json object's own keys are its fields. */
  fields: Readonly<Record<string, readonly [field: string, told: Told]>>;
  /** Columns that say nothing of what a person wants. */
  passed: readonly string[];
}

const times = ["created_at", "updated_at"];

export const watched: Readonly<Record<string, WatchedTable>> = {
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
  projects: {
    ...{ kind: "project", id: "id", name: "name" },
    fields: { name: ["name", "text"] },
    passed: ["version", "created_at"],
  },
  sources: {
    ...{ kind: "source", id: "id", name: "name", inProject: true },
    fields: {
      name: ["name", "text"],
      kind: ["kind", "text"],
      room: ["room", "text"],
      retain_logs: ["retain_logs", "flag"],
      options: ["options", "json"],
      token_hash: ["token", "secret"],
      short_hash: ["short_token", "secret"],
      sealed_secret: ["secret", "secret"],
    },
    passed: ["created_at"],
  },
  source_keys: {
    ...{ kind: "source_key", id: "id", name: "id" },
    fields: { source_id: ["source_id", "text"], hash: ["key", "secret"] },
    passed: ["added_at"],
  },
  rules: {
    ...{ kind: "rule", id: "id", name: "name", inProject: true },
    fields: { name: ["name", "text"], body: ["body", "json"] },
    passed: times,
  },
  schedules: {
    ...{ kind: "schedule", id: "id", name: "name", inProject: true },
    fields: {
      name: ["name", "text"],
      timezone: ["timezone", "text"],
      layers: ["layers", "json"],
      shared: ["shared", "flag"],
      shift_check: ["shift_check", "flag"],
    },
    passed: [...times, "check_at"],
  },
  calendars: {
    ...{ kind: "calendar", id: "id", name: "id" },
    fields: {
      account_id: ["account_id", "text"],
      schedule_id: ["schedule_id", "text"],
      hash: ["address", "secret"],
    },
    passed: ["created_at"],
  },
  overrides: {
    ...{ kind: "override", id: "id", name: "id" },
    fields: {
      schedule_id: ["schedule_id", "text"],
      account_id: ["account_id", "text"],
      starts_at: ["starts_at", "text"],
      ends_at: ["ends_at", "text"],
    },
    passed: ["created_at", "created_by"],
  },
  integrations: {
    ...{ kind: "integration", id: "id", name: "name", inProject: true },
    fields: {
      name: ["name", "text"],
      type: ["type", "text"],
      url: ["url", "text"],
      enabled: ["enabled", "flag"],
      event_filter: ["events", "text"],
      title_template: ["title_template", "text"],
      body_template: ["body_template", "text"],
      storm_threshold: ["storm_threshold", "text"],
      shared: ["shared", "flag"],
      except_projects: ["except", "text"],
      sealed: ["credentials", "secret"],
    },
    passed: [
      ...["relay", "speaks", "consecutive_failures", "failing_since", "last_error", "created_at"],
      ...["worked_at", "off_at", "off_by"],
    ],
  },
  actions: {
    ...{ kind: "action", id: "id", name: "name", inProject: true },
    fields: {
      name: ["name", "text"],
      method: ["method", "text"],
      url: ["url", "text"],
      header_keys: ["header_keys", "json"],
      enabled: ["enabled", "flag"],
      event_filter: ["events", "text"],
      timeout_seconds: ["timeout_seconds", "text"],
      sealed_headers: ["headers", "secret"],
      sealed_body: ["body", "secret"],
    },
    passed: ["created_at"],
  },
  relay: {
    ...{ kind: "relay", id: "id", name: "relay_url" },
    fields: { relay_url: ["relay_url", "text"], sealed_secret: ["relay_secret", "secret"] },
    passed: ["hosted_tenant_id", "box_public_url", "announce_at"],
  },
  reports: {
    ...{ kind: "report", id: "id", name: "title", inProject: true },
    fields: {
      title: ["title", "text"],
      description: ["description", "text"],
      alert_id: ["alert_id", "text"],
      password_hash: ["password", "secret"],
      public_uuid: ["public_address", "secret"],
    },
    passed: ["password_version", "created_by", ...times],
  },
  report_entries: {
    ...{ kind: "report_entry", id: "id", name: "title" },
    fields: {
      report_id: ["report_id", "text"],
      title: ["title", "text"],
      entry_type: ["entry_type", "text"],
      content_md: ["content_md", "text"],
    },
    passed: ["seq", "content_html", "created_at", "created_by"],
  },
  heartbeats: {
    ...{ kind: "heartbeat", id: "id", name: "name", inProject: true },
    fields: {
      name: ["name", "text"],
      slug: ["slug", "text"],
      period_seconds: ["period_seconds", "text"],
      cron: ["cron", "text"],
      timezone: ["timezone", "text"],
      grace_seconds: ["grace_seconds", "text"],
      max_run_seconds: ["max_run_seconds", "text"],
      level: ["level", "text"],
      state: ["state", "text"],
      watch: ["watch", "json"],
      secret_hash: ["address", "secret"],
      uuid_hash: ["uuid", "secret"],
    },
    passed: [
      ...["last_at", "last_duration", "last_message", "run_at", "expected_at", "deadline_at"],
      ...["reason", "instance", "exit_status", "owed", "due_at", "created_at"],
    ],
  },
  silences: {
    ...{ kind: "silence", id: "id", name: "id", inProject: true },
    fields: {
      starts_at: ["starts_at", "text"],
      ends_at: ["ends_at", "text"],
      over_at: ["over_at", "text"],
      repeats: ["repeat", "text"],
      body: ["body", "json"],
    },
    passed: ["created_by", "created_at"],
  },
  gateways: {
    ...{ kind: "gateway", id: "id", name: "id" },
    fields: { url: ["url", "text"], sealed: ["settings", "secret"] },
    passed: ["last_ok_at", "last_error", "updated_at", "heard"],
  },
  contacts: {
    ...{ kind: "contact", id: "id", name: "label" },
    fields: {
      account_id: ["account_id", "text"],
      kind: ["kind", "text"],
      label: ["label", "text"],
      shown: ["address", "text"],
      state: ["state", "text"],
      sealed: ["credentials", "secret"],
      code_hash: ["code", "secret"],
      wants: ["wants", "json"],
    },
    passed: [
      ...["code_until", "code_tries", "verified_at", "sent_ms", "last_ok_at", "failures"],
      ...["last_error", "created_at", "server_key", "shown_at", "shown_after"],
    ],
  },
  notify_rules: {
    ...{ kind: "notification_rules", id: "account_id", name: "account_id" },
    fields: { rules: ["rules", "json"] },
    passed: [],
  },
  meta: {
    ...{ kind: "fallback", id: "key", name: "key", only: "ROW.key = 'fallback'" },
    fields: { value: ["value", "json"] },
    passed: [],
  },
  // Opened by events, and its history tells the rest. What folds events in assigns none of these.
  alerts: {
    ...{ kind: "alert", id: "id", name: "rule", inProject: true, changesOnly: true },
    fields: {
      state: ["state", "text"],
      page_accounts: ["page_accounts", "json"],
      wakes_at: ["acknowledged_until", "text"],
    },
    passed: [
      ...["rule_id", "alert_key", "template_id", "template", "level", "count", "first_seen"],
      ...["last_seen", "last_message", "identifiers", "investigate", "escalation_level"],
      ...["updated_seq", "opened_at", "acked_at", "resolved_at", "ladder_from", "step", "step_at"],
      ...["repeat_at", "renotify_at", "renotified", "quiet_at", "due_at", "dedup_key", "room"],
      ...["instance", "expires_at", "extra", "promised", "silenced_by", "held_until", "untold"],
      ...["source", "drill", "acked_by"],
    ],
  },
};

/** Tables that no person writes but through one of those above, and why nothing of them is told. */
export const unwatched: Readonly<Record<string, string>> = {
  audit: "the audit itself",
  migrations: "the program's own",
  pair_receipts: "made with a redeemed code, for the hosted service",
  wrong_tries: "counted by account and minute",
  ...{ templates: "the program's own finding", template_counts: "the program's own finding" },
  ...{ log_lines: "events", log_blocks: "events", window_hits: "events", changes: "events" },
  ...{ alert_buckets: "events", alert_minutes: "events" },
  alert_people: "kept by what is done to alerts",
  alert_counts: "kept by what is done to alerts",
  timeline: "an alert's own history",
  events: "what leaves",
  deliveries: "what leaves",
  executions: "what leaves",
  pages: "what leaves",
  shift_checks: "what leaves",
  storms: "what leaves",
  heartbeat_runs: "reports of jobs",
};
