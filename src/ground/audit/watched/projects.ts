import { texts, type WatchedTable } from "./table.ts";

export const projectsWatched: Readonly<Record<string, WatchedTable>> = {
  projects: {
    kind: "project",
    id: "id",
    name: "name",
    fields: { ...texts("name", "default_ladder_id") },
  },
  sources: {
    kind: "source",
    id: "id",
    name: "name",
    inProject: true,
    fields: {
      ...texts("name", "kind", "room"),
      retain_logs: ["retain_logs", "flag"],
      options: ["options", "json"],
      token_hash: ["token", "secret"],
      short_hash: ["short_token", "secret"],
      sealed_secret: ["secret", "secret"],
    },
  },
  source_keys: {
    kind: "source_key",
    id: "id",
    name: "id",
    fields: { source_id: ["source_id", "text"], hash: ["key", "secret"] },
  },
  rules: {
    kind: "rule",
    id: "id",
    name: "name",
    inProject: true,
    fields: { ...texts("name", "ladder_id"), body: ["body", "json"] },
  },
  ladders: {
    kind: "ladder",
    id: "id",
    name: "name",
    fields: { name: ["name", "text"], body: ["body", "json"] },
  },
  integrations: {
    kind: "integration",
    id: "id",
    name: "name",
    inProject: true,
    fields: {
      ...texts("name", "type", "url", "title_template", "body_template", "storm_threshold"),
      enabled: ["enabled", "flag"],
      event_filter: ["events", "text"],
      shared: ["shared", "flag"],
      except_projects: ["except", "text"],
      sealed: ["credentials", "secret"],
    },
  },
  actions: {
    kind: "action",
    id: "id",
    name: "name",
    inProject: true,
    fields: {
      ...texts("name", "method", "url", "timeout_seconds"),
      header_keys: ["header_keys", "json"],
      enabled: ["enabled", "flag"],
      event_filter: ["events", "text"],
      sealed_headers: ["headers", "secret"],
      sealed_body: ["body", "secret"],
    },
  },
  relay: {
    kind: "relay",
    id: "id",
    name: "relay_url",
    fields: { relay_url: ["relay_url", "text"], sealed_secret: ["relay_secret", "secret"] },
  },
};
