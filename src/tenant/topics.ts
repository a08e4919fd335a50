import type { Note, Reader } from "../ground/store/store.ts";

const PROJECT = "SELECT name FROM projects WHERE id = ?";

/** The names by which readers watch the changes of a commit. */
export function topicsOf(reader: Reader, note: Note): string[] {
  if (note.topic === "alert") return ["alerts", `alert:${note.alertId}`];
  if (note.topic === "endpoint" || note.topic === "attempted") return [`deliveries:${note.id}`];
  if (note.topic === "heard") {
    const name = reader.sql<[id: number], string>(PROJECT).pluck().get(note.projectId);
    return name === undefined ? [] : [`source:${name}/${note.source}`, `lines:${name}`];
  }
  if (note.topic === "written") return writtenTopics(note);
  if (note.topic === "config") {
    const name = reader.sql<[id: number], string>(PROJECT).pluck().get(note.projectId);
    return name === undefined ? [] : [`project:${name}`];
  }
  return plain[note.topic] ?? [];
}

const plain: Partial<Record<Note["topic"], string[]>> = {
  "project-deleted": ["projects", "alerts"],
  sources: ["projects"],
  people: ["people"],
  contact: ["people"],
  oncall: ["oncall", "system"],
  reports: ["reports"],
  heartbeats: ["heartbeats"],
  silences: ["silences"],
  waiting: ["waiting"],
  "ping-addresses": ["heartbeats"],
  calendars: ["people"],
  relay: ["system"],
  host: ["system"],
};

/** What a person changed in a project, by its kind in the audit. */
const placed: Readonly<
  Record<string, (thing: { id: string; name: string; project: string }) => string[]>
> = {
  project: () => ["projects"],
  source: ({ name, project }) => [`source:${project}/${name}`],
  rule: ({ name, project }) => [`rule:${project}/${name}`],
  schedule: ({ name, project }) => [`oncall:${project}/${name}`],
  integration: ({ project }) => [`channels:${project}`],
  action: ({ project }) => [`channels:${project}`],
  report: ({ id }) => ["reports", `report:${id}`],
  heartbeat: () => ["heartbeats"],
  alert: ({ id }) => ["alerts", `alert:${id}`],
};

/** Things that are in no project. */
const unplaced: Readonly<Record<string, (id: string) => string[]>> = {
  ...Object.fromEntries(
    [
      "account",
      "away",
      "key",
      "session",
      "calendar",
      "pairing_code",
      "device",
      "contact",
      "notification_rules",
    ].map((kind) => [kind, () => ["people"]]),
  ),
  ...Object.fromEntries(
    ["gateway", "relay", "fallback", "wall"].map((kind) => [kind, () => ["system"]]),
  ),
  override: () => ["oncall"],
  ladder: () => ["ladders"],
  report_entry: () => ["reports"],
  alert: (id) => ["alerts", `alert:${id}`],
};

function writtenTopics(note: Extract<Note, { topic: "written" }>): string[] {
  const { kind, id, name, project } = note;
  if (project === null) return (unplaced[kind] ?? (() => []))(id);
  const own = placed[kind]?.({ id, name, project }) ?? [];
  return kind === "alert" ? own : [...own, `project:${project}`];
}
