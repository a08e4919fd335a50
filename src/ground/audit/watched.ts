/**
 * How the audit stores a column. `text`: its value, numbers too. `flag`: 0 and 1 as false and true. `json`: an object
 * field by field, a list as a whole. `secret`: only that it changed.
 */
type Told = "text" | "flag" | "json" | "secret";

export interface WatchedTable {
  /** The noun: `rule`, `schedule` … */
  kind: string;
  /** Columns. `id` never changes while the thing exists. */
  id: string;
  name: string;
  /** The table has a column `project_id`. */
  inProject?: true;
  /** SQL over `ROW`: only rows for which it holds are watched. */
  only?: string;
  /** Only changes are watched: new and deleted rows are too many, or no person makes them. */
  changesOnly?: true;
  /** Column → the field's name in the interface, and how it is stored. Of a json object its own keys are the names. */
  fields: Readonly<Record<string, readonly [field: string, told: Told]>>;
}

const as =
  (told: Told) =>
  (...columns: string[]): WatchedTable["fields"] =>
    Object.fromEntries(columns.map((column) => [column, [column, told]]));
/** Columns under their own names. */
const [texts, flags, json] = [as("text"), as("flag"), as("json")];

/** Usually the column `id` stays, and a row is called what its column `name` says, or its id where it has none. */
const table = (
  kind: string,
  fields: WatchedTable["fields"],
  more: Partial<WatchedTable> = {},
): WatchedTable => ({ kind, id: "id", name: "name" in fields ? "name" : "id", fields, ...more });

/**
 * The tables that people change: what a row is called, and how the audit stores each column. A test compares the list
 * with the migrations, so each new table or column is stored, kept secret or left out on purpose
 * (`test/ground/audit/left-out.ts`).
 */
export const watched: Readonly<Record<string, WatchedTable>> = {
  accounts: table(
    "account",
    {
      ...texts("email", "display_name", "role", "timezone"),
      password_hash: ["password", "secret"],
    },
    { name: "email" },
  ),
  sessions: table(
    "session",
    {
      ...texts("account_id", "method", "key_id", "passkey_id", "provider", "address", "agent"),
      hash: ["cookie", "secret"],
    },
    { name: "method" },
  ),
  passkeys: table("passkey", {
    ...texts("account_id", "name", "doubted_at"),
    rp_id: ["host", "text"],
    credential: ["credential", "secret"],
  }),
  sign_in_providers: table("sign_in_provider", {
    ...texts("name", "issuer", "client_id", "groups_claim"),
    ...json("scopes", "roles", "domains"),
    sealed_secret: ["client_secret", "secret"],
  }),
  oidc_links: table(
    "provider_link",
    { ...texts("account_id", "issuer", "subject") },
    { name: "issuer" },
  ),
  sign_in: table("sign_in", { ...flags("password") }),
  walls: table("wall", { ...texts("name"), ...flags("messages"), hash: ["link", "secret"] }),
  api_keys: table(
    "key",
    { ...texts("account_id", "label"), hash: ["key", "secret"] },
    { name: "hint" },
  ),
  pair_codes: table("pairing_code", {
    ...texts("role", "email", "expires_at", "used_at"),
    account_id: ["sets_password_of", "text"],
    hash: ["code", "secret"],
  }),
  devices: table(
    "device",
    { ...texts("platform"), ...flags("critical_alerts"), token: ["token", "secret"] },
    { id: "account_id", name: "platform" },
  ),
  projects: table("project", { ...texts("name", "default_ladder_id") }),
  sources: table(
    "source",
    {
      ...texts("name", "kind", "room"),
      ...flags("retain_logs"),
      ...json("options"),
      token_hash: ["token", "secret"],
      short_hash: ["short_token", "secret"],
      sealed_secret: ["secret", "secret"],
    },
    { inProject: true },
  ),
  source_keys: table("source_key", { ...texts("source_id"), hash: ["key", "secret"] }),
  rules: table("rule", { ...texts("name", "ladder_id"), ...json("body") }, { inProject: true }),
  ladders: table("ladder", { ...texts("name"), ...json("body") }),
  integrations: table(
    "integration",
    {
      ...texts("name", "type", "url", "title_template", "body_template", "storm_threshold"),
      ...flags("enabled"),
      event_filter: ["events", "text"],
      ...flags("shared"),
      except_projects: ["except", "text"],
      sealed: ["credentials", "secret"],
    },
    { inProject: true },
  ),
  actions: table(
    "action",
    {
      ...texts("name", "method", "url", "timeout_seconds"),
      ...json("header_keys"),
      ...flags("enabled"),
      event_filter: ["events", "text"],
      sealed_headers: ["headers", "secret"],
      sealed_body: ["body", "secret"],
    },
    { inProject: true },
  ),
  relay: table(
    "relay",
    { ...texts("relay_url"), sealed_secret: ["relay_secret", "secret"] },
    { name: "relay_url" },
  ),
  schedules: table(
    "schedule",
    {
      ...texts("name", "timezone", "covers"),
      ...json("layers"),
      ...flags("shared", "shift_check", "hand_over"),
    },
    { inProject: true },
  ),
  calendars: table("calendar", {
    ...texts("account_id", "schedule_id"),
    hash: ["address", "secret"],
  }),
  away: table("away", {
    ...json("spans"),
    shown_ical: ["ical", "text"],
    sealed_ical: ["ical_address", "secret"],
  }),
  asks: table("ask", {
    ...texts(
      "schedule_id",
      "account_id",
      "starts_at",
      "ends_at",
      "return_from",
      "return_until",
      "note",
      "state",
      "taken_by",
    ),
  }),
  holidays: table("holidays", { ...texts("name"), ...json("dates") }, { id: "name" }),
  overrides: table("override", { ...texts("schedule_id", "account_id", "starts_at", "ends_at") }),
  reports: table(
    "report",
    {
      ...texts("title", "description", "alert_id"),
      password_hash: ["password", "secret"],
      public_uuid: ["public_address", "secret"],
    },
    { name: "title", inProject: true },
  ),
  report_entries: table(
    "report_entry",
    { ...texts("report_id", "title", "entry_type", "content_md") },
    { name: "title" },
  ),
  heartbeats: table(
    "heartbeat",
    {
      ...texts(
        "name",
        "slug",
        "period_seconds",
        "cron",
        "timezone",
        "grace_seconds",
        "max_run_seconds",
        "level",
        "state",
      ),
      ...json("watch"),
      secret_hash: ["address", "secret"],
      uuid_hash: ["uuid", "secret"],
    },
    { inProject: true },
  ),
  silences: table(
    "silence",
    { ...texts("starts_at", "ends_at", "over_at"), repeats: ["repeat", "text"], ...json("body") },
    { inProject: true },
  ),
  gateways: table("gateway", { ...texts("url"), sealed: ["settings", "secret"] }),
  contacts: table(
    "contact",
    {
      ...texts("account_id", "kind", "label", "state"),
      shown: ["address", "text"],
      sealed: ["credentials", "secret"],
      code_hash: ["code", "secret"],
      ...json("wants"),
    },
    { name: "label" },
  ),
  notify_rules: table(
    "notification_rules",
    { ...json("rules") },
    { id: "account_id", name: "account_id" },
  ),
  meta: table(
    "fallback",
    { ...json("value") },
    { id: "key", name: "key", only: "ROW.key = 'fallback'" },
  ),
  // Events open alerts, and the timeline records what happens to them. Folding an event into an alert writes none of
  // these columns.
  alerts: table(
    "alert",
    { ...texts("state"), ...json("page_accounts"), wakes_at: ["acknowledged_until", "text"] },
    { name: "rule", inProject: true, changesOnly: true },
  ),
  advice_hidden: table("advice", { ...texts("until") }),
};
