import { times, type WatchedTable } from "./table.ts";

/** Projects and what is set in them. */
export const projectsWatched: Readonly<Record<string, WatchedTable>> = {
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
};
