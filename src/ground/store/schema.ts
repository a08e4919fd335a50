// Generated from the migrations by migrations/generate.ts.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type {
  ActionMethod,
  AskState,
  AwaySpan,
  ContactState,
  EntryType,
  Holiday,
  NameScope,
  Role,
  ScheduleCovers,
  StoredSourceOptions,
} from "./columns.ts";

export const accounts = sqliteTable("accounts", {
  id: text("id").primaryKey(),
  email: text("email").notNull(),
  emailFolded: text("email_folded").notNull(),
  displayName: text("display_name").notNull(),
  passwordHash: text("password_hash").notNull(),
  role: text("role").$type<Role>().notNull(),
  createdAt: integer("created_at").notNull(),
  signedInAt: integer("signed_in_at"),
  timezone: text("timezone"),
  hue: integer("hue").notNull().default(0),
});

export const actions = sqliteTable("actions", {
  id: text("id").primaryKey(),
  projectId: integer("project_id").notNull(),
  name: text("name").notNull(),
  method: text("method").$type<ActionMethod>().notNull(),
  url: text("url").notNull(),
  headerKeys: text("header_keys").notNull(),
  sealedHeaders: text("sealed_headers"),
  sealedBody: text("sealed_body"),
  enabled: integer("enabled", { mode: "boolean" }).notNull(),
  eventFilter: text("event_filter").notNull(),
  timeoutSeconds: integer("timeout_seconds").notNull(),
  createdAt: integer("created_at").notNull(),
});

export const apiKeys = sqliteTable("api_keys", {
  id: text("id").primaryKey(),
  accountId: text("account_id").notNull(),
  hash: text("hash").notNull(),
  hint: text("hint").notNull(),
  createdAt: integer("created_at").notNull(),
  lastUsedAt: integer("last_used_at"),
  label: text("label").notNull().default(""),
});

export const askPeople = sqliteTable(
  "ask_people",
  {
    askId: text("ask_id").notNull(),
    accountId: text("account_id").notNull(),
    said: text("said"),
  },
  (table) => [primaryKey({ columns: [table.askId, table.accountId] })],
);

export const asks = sqliteTable("asks", {
  id: text("id").primaryKey(),
  scheduleId: text("schedule_id").notNull(),
  accountId: text("account_id").notNull(),
  askedBy: text("asked_by").notNull(),
  startsAt: integer("starts_at").notNull(),
  endsAt: integer("ends_at").notNull(),
  returnFrom: integer("return_from"),
  returnUntil: integer("return_until"),
  note: text("note").notNull(),
  state: text("state").$type<AskState>().notNull(),
  takenBy: text("taken_by"),
  createdAt: integer("created_at").notNull(),
});

export const away = sqliteTable("away", {
  id: text("id").primaryKey(),
  spans: text("spans", { mode: "json" }).$type<AwaySpan[]>().notNull().default([]),
  sealedIcal: text("sealed_ical"),
  shownIcal: text("shown_ical"),
  icalSpans: text("ical_spans", { mode: "json" }).$type<AwaySpan[]>().notNull().default([]),
  icalError: text("ical_error"),
  icalReadAt: integer("ical_read_at"),
  icalNext: integer("ical_next"),
});

export const awayAsked = sqliteTable(
  "away_asked",
  {
    scheduleId: text("schedule_id").notNull(),
    accountId: text("account_id").notNull(),
    startsAt: integer("starts_at").notNull(),
    endsAt: integer("ends_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.scheduleId, table.accountId, table.startsAt] })],
);

export const calendars = sqliteTable("calendars", {
  id: text("id").primaryKey(),
  accountId: text("account_id").notNull(),
  scheduleId: text("schedule_id"),
  hash: text("hash").notNull(),
  createdAt: integer("created_at").notNull(),
});

export const contacts = sqliteTable("contacts", {
  id: text("id").primaryKey(),
  accountId: text("account_id").notNull(),
  kind: text("kind").notNull(),
  label: text("label").notNull(),
  shown: text("shown").notNull(),
  sealed: text("sealed").notNull(),
  state: text("state").$type<ContactState>().notNull(),
  codeHash: text("code_hash"),
  codeUntil: integer("code_until"),
  codeTries: integer("code_tries").notNull().default(0),
  verifiedAt: integer("verified_at"),
  sentMs: integer("sent_ms"),
  lastOkAt: integer("last_ok_at"),
  failures: integer("failures").notNull().default(0),
  lastError: text("last_error"),
  createdAt: integer("created_at").notNull(),
  wants: text("wants"),
  serverKey: text("server_key"),
  shownAt: integer("shown_at"),
  shownAfter: integer("shown_after"),
});

export const countSeries = sqliteTable("count_series", {
  id: integer("id").primaryKey(),
  projectId: integer("project_id").notNull(),
  selection: text("selection").notNull(),
  since: integer("since").notNull(),
  keptFrom: integer("kept_from").notNull().default(0),
});

export const devices = sqliteTable(
  "devices",
  {
    accountId: text("account_id").notNull(),
    token: text("token").notNull(),
    platform: text("platform").notNull(),
    criticalAlerts: integer("critical_alerts", { mode: "boolean" }).notNull(),
    createdAt: integer("created_at").notNull(),
    lastSeenAt: integer("last_seen_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.token] })],
);

export const gateways = sqliteTable("gateways", {
  id: text("id").primaryKey(),
  url: text("url").notNull(),
  sealed: text("sealed").notNull(),
  lastOkAt: integer("last_ok_at"),
  lastError: text("last_error"),
  updatedAt: integer("updated_at").notNull(),
  heard: text("heard"),
});

export const handOvers = sqliteTable(
  "hand_overs",
  {
    scheduleId: text("schedule_id").notNull(),
    at: integer("at").notNull(),
    toId: text("to_id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.scheduleId, table.at, table.toId] })],
);

export const holidays = sqliteTable("holidays", {
  name: text("name").primaryKey(),
  dates: text("dates", { mode: "json" }).$type<Holiday[]>().notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const integrations = sqliteTable("integrations", {
  id: text("id").primaryKey(),
  projectId: integer("project_id").notNull(),
  name: text("name").notNull(),
  type: text("type").notNull(),
  url: text("url").notNull(),
  sealed: text("sealed"),
  enabled: integer("enabled", { mode: "boolean" }).notNull(),
  eventFilter: text("event_filter").notNull(),
  relay: integer("relay", { mode: "boolean" }).notNull().default(false),
  consecutiveFailures: integer("consecutive_failures").notNull().default(0),
  failingSince: integer("failing_since"),
  lastError: text("last_error"),
  createdAt: integer("created_at").notNull(),
  speaks: integer("speaks", { mode: "boolean" }).notNull().default(true),
  titleTemplate: text("title_template").notNull().default(""),
  bodyTemplate: text("body_template").notNull().default(""),
  stormThreshold: integer("storm_threshold"),
  shared: integer("shared", { mode: "boolean" }).notNull().default(false),
  exceptProjects: text("except_projects", { mode: "json" }).$type<number[]>().notNull().default([]),
  workedAt: integer("worked_at"),
  offAt: integer("off_at"),
  offBy: text("off_by"),
});

export const ladders = sqliteTable("ladders", {
  id: integer("id").primaryKey(),
  name: text("name").notNull(),
  body: text("body").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const notifyRules = sqliteTable("notify_rules", {
  accountId: text("account_id").primaryKey(),
  rules: text("rules").notNull(),
});

export const oidcLinks = sqliteTable("oidc_links", {
  id: text("id").primaryKey(),
  issuer: text("issuer").notNull(),
  subject: text("subject").notNull(),
  accountId: text("account_id"),
  createdAt: integer("created_at").notNull(),
  lastUsedAt: integer("last_used_at").notNull(),
});

export const oncallNotes = sqliteTable("oncall_notes", {
  id: integer("id").primaryKey({ autoIncrement: true }),
  accountId: text("account_id").notNull(),
  title: text("title").notNull(),
  lines: text("lines", { mode: "json" }).$type<string[]>().notNull(),
  path: text("path").notNull(),
  until: integer("until").notNull(),
  askId: text("ask_id"),
});

export const overrides = sqliteTable("overrides", {
  id: text("id").notNull(),
  scheduleId: text("schedule_id").notNull(),
  accountId: text("account_id").notNull(),
  startsAt: integer("starts_at").notNull(),
  endsAt: integer("ends_at").notNull(),
  createdAt: integer("created_at").notNull(),
  createdBy: text("created_by").notNull(),
});

export const pairCodes = sqliteTable("pair_codes", {
  id: text("id").primaryKey(),
  hash: text("hash").notNull(),
  role: text("role").$type<Role>().notNull(),
  email: text("email"),
  issuedBy: text("issued_by"),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
  usedAt: integer("used_at"),
  accountId: text("account_id"),
});

export const pairReceipts = sqliteTable("pair_receipts", {
  hash: text("hash").primaryKey(),
  accountId: text("account_id").notNull(),
  expiresAt: integer("expires_at").notNull(),
  usedAt: integer("used_at"),
});

export const passkeys = sqliteTable("passkeys", {
  id: text("id").primaryKey(),
  accountId: text("account_id").notNull(),
  name: text("name").notNull(),
  credential: text("credential").notNull(),
  publicKey: text("public_key").notNull(),
  rpId: text("rp_id").notNull(),
  counter: integer("counter").notNull(),
  transports: text("transports").notNull(),
  createdAt: integer("created_at").notNull(),
  lastUsedAt: integer("last_used_at"),
  doubtedAt: integer("doubted_at"),
});

export const projects = sqliteTable("projects", {
  id: integer("id").primaryKey({ autoIncrement: true }),
  name: text("name").notNull(),
  version: integer("version").notNull(),
  createdAt: integer("created_at").notNull(),
  defaultLadderId: integer("default_ladder_id"),
});

export const relay = sqliteTable("relay", {
  id: integer("id").primaryKey(),
  relayUrl: text("relay_url").notNull(),
  sealedSecret: text("sealed_secret").notNull(),
  hostedTenantId: text("hosted_tenant_id"),
  boxPublicUrl: text("box_public_url"),
  announceAt: integer("announce_at"),
});

export const removedPeople = sqliteTable("removed_people", {
  emailHash: text("email_hash").primaryKey(),
  removedAt: integer("removed_at").notNull(),
});

export const reportEntries = sqliteTable("report_entries", {
  seq: integer("seq").primaryKey({ autoIncrement: true }),
  id: text("id").notNull(),
  reportId: text("report_id").notNull(),
  title: text("title").notNull(),
  entryType: text("entry_type").$type<EntryType>().notNull(),
  contentMd: text("content_md").notNull(),
  contentHtml: text("content_html").notNull(),
  createdAt: integer("created_at").notNull(),
  createdBy: text("created_by").notNull(),
});

export const reports = sqliteTable("reports", {
  id: text("id").primaryKey(),
  projectId: integer("project_id").notNull(),
  title: text("title").notNull(),
  description: text("description").notNull(),
  alertId: integer("alert_id"),
  passwordHash: text("password_hash"),
  passwordVersion: integer("password_version").notNull().default(0),
  publicUuid: text("public_uuid").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  createdBy: text("created_by").notNull(),
});

export const rules = sqliteTable("rules", {
  id: integer("id").primaryKey({ autoIncrement: true }),
  projectId: integer("project_id").notNull(),
  name: text("name").notNull(),
  body: text("body").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  ladderId: integer("ladder_id"),
});

export const schedules = sqliteTable("schedules", {
  id: text("id").primaryKey(),
  projectId: integer("project_id").notNull(),
  name: text("name").notNull(),
  timezone: text("timezone").notNull(),
  layers: text("layers").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  shared: integer("shared", { mode: "boolean" }).notNull().default(false),
  shiftCheck: integer("shift_check", { mode: "boolean" }).notNull().default(true),
  checkAt: integer("check_at").notNull().default(0),
  covers: text("covers").$type<ScheduleCovers>().notNull().default("always"),
  handOver: integer("hand_over", { mode: "boolean" }).notNull().default(false),
});

export const shiftChecks = sqliteTable("shift_checks", {
  id: integer("id").primaryKey({ autoIncrement: true }),
  scheduleId: text("schedule_id").notNull(),
  accountId: text("account_id").notNull(),
  beforeId: text("before_id"),
  startsAt: integer("starts_at").notNull(),
  endsAt: integer("ends_at"),
  askedAt: integer("asked_at").notNull(),
  dueAt: integer("due_at"),
  seenAt: integer("seen_at"),
});

export const signInRow = sqliteTable("sign_in", {
  id: integer("id").primaryKey(),
  password: integer("password", { mode: "boolean" }).notNull(),
});

export const signInProviders = sqliteTable("sign_in_providers", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  issuer: text("issuer").notNull(),
  clientId: text("client_id").notNull(),
  sealedSecret: text("sealed_secret"),
  scopes: text("scopes").notNull(),
  groupsClaim: text("groups_claim").notNull(),
  roles: text("roles").notNull(),
  domains: text("domains").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const sourceKeys = sqliteTable("source_keys", {
  id: integer("id").primaryKey({ autoIncrement: true }),
  sourceId: integer("source_id").notNull(),
  hash: text("hash").notNull(),
  addedAt: integer("added_at").notNull(),
});

export const sources = sqliteTable("sources", {
  id: integer("id").primaryKey({ autoIncrement: true }),
  projectId: integer("project_id").notNull(),
  name: text("name").notNull(),
  tokenHash: text("token_hash").notNull(),
  retainLogs: integer("retain_logs", { mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
  kind: text("kind").notNull().default("events"),
  room: text("room").$type<NameScope>().notNull().default("project"),
  shortHash: text("short_hash"),
  options: text("options", { mode: "json" }).$type<StoredSourceOptions>().notNull().default({}),
  sealedSecret: text("sealed_secret"),
  heardSince: integer("heard_since"),
});

export const walls = sqliteTable("walls", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  messages: integer("messages", { mode: "boolean" }).notNull(),
  hash: text("hash").notNull(),
  accountId: text("account_id"),
  createdAt: integer("created_at").notNull(),
  lastSeenAt: integer("last_seen_at"),
});
