import * as z from "zod";
import { LONGEST_QUERY, readAlertQuery } from "../../core/alerts/query.ts";
import { titleOfAlert } from "../../core/alerts/title.ts";
import { triage } from "../../core/alerts/triage.ts";
import type { Reader, Store } from "../../ground/store/store.ts";

/** Finds things by name, and the newest alerts, by words. */

const found = z
  .object({
    kind: z.enum([
      "alert",
      "project",
      "rule",
      "ladder",
      "source",
      "schedule",
      "channel",
      "action",
      "heartbeat",
      "report",
      "person",
    ]),
    title: z.string(),
    sub: z.string().meta({ description: "Where it belongs, or what it is called else." }),
    path: z.string().meta({ description: "Its page." }),
    id: z.string().meta({ description: "What names it in other routes." }),
  })
  .meta({ id: "Found" });
type Found = z.output<typeof found>;

export const searchAnswer = z.object({
  results: z.array(found).meta({ description: "What has a name first, then alerts, the newest." }),
  complete: z.boolean().meta({
    description: "false: the time was up, or there is more than was looked at.",
  }),
});
export type SearchAnswer = z.output<typeof searchAnswer>;

/** The newest alerts that are searched. */
const MOST_ALERTS = 20_000;
/** Things of one kind that are searched. */
const MOST_OF_KIND = 5_000;

/** A row of a kind's query. `project` is empty where the thing belongs to none. */
interface Named {
  id: string;
  title: string;
  sub: string;
  project: string;
}

interface Kind {
  kind: Exclude<Found["kind"], "alert">;
  /** Gives rows of Named, sorted by name. */
  sql: string;
  path(row: Named): string;
}

const of = encodeURIComponent;
const inProject = (table: string, id: string, title = "name") =>
  `SELECT x.${id} AS id, x.${title} AS title, p.name AS sub, p.name AS project
   FROM ${table} x, projects p WHERE p.id = x.project_id ORDER BY x.${title}`;

const KINDS: readonly Kind[] = [
  {
    kind: "project",
    sql: "SELECT name AS id, name AS title, '' AS sub, name AS project FROM projects ORDER BY name",
    path: ({ id }) => `/p/${of(id)}`,
  },
  {
    kind: "rule",
    sql: inProject("rules", "name"),
    path: ({ id, project }) => `/p/${of(project)}/rules/${of(id)}`,
  },
  {
    kind: "ladder",
    sql: "SELECT name AS id, name AS title, '' AS sub, '' AS project FROM ladders ORDER BY name",
    path: ({ id }) => `/ladders/${of(id)}`,
  },
  {
    kind: "source",
    sql: inProject("sources", "name"),
    path: ({ project }) => `/p/${of(project)}/sources`,
  },
  {
    kind: "schedule",
    sql: inProject("schedules", "name"),
    path: ({ id, project }) => `/oncall/${of(project)}/${of(id)}`,
  },
  {
    kind: "channel",
    sql: inProject("integrations", "id"),
    path: ({ id, project }) => `/p/${of(project)}/channels/${of(id)}`,
  },
  {
    kind: "action",
    sql: inProject("actions", "id"),
    path: ({ project }) => `/p/${of(project)}/actions`,
  },
  {
    kind: "heartbeat",
    sql: inProject("heartbeats", "id"),
    path: ({ id }) => `/heartbeats/${of(id)}`,
  },
  {
    kind: "report",
    sql: inProject("reports", "id", "title"),
    path: ({ id, project }) => `/p/${of(project)}/reports/${of(id)}`,
  },
  {
    kind: "person",
    sql: "SELECT id, display_name AS title, email AS sub, '' AS project FROM accounts ORDER BY email",
    path: ({ id }) => `/people/${of(id)}`,
  },
];

/**
 * Finds things whose names contain every word, shortest name first, and alerts as `readAlertQuery` finds them; at most
 * `limit` together. It takes at most about 0.1 s, with other work in between.
 */
export async function search(
  store: Store,
  { q, limit }: { q: string; limit: number },
): Promise<SearchAnswer> {
  const text = q.trim().slice(0, LONGEST_QUERY);
  if (text === "") return { results: [], complete: true };
  const named = thingsNamed(store, text);
  const room = Math.max(Math.ceil(limit / 2), limit - named.results.length);
  const page = await triage(store, {
    order: "newest",
    q: text,
    limit: room,
    looked: MOST_ALERTS,
  });
  const alerts = page.rows.map(
    (row): Found => ({
      kind: "alert",
      title: titleOfAlert(row),
      id: String(row.id),
      path: `/a/${row.id}`,
      sub: `#${row.id} · ${row.project} · ${row.rule} · ${row.state === "acknowledged" ? "taken" : row.state}`,
    }),
  );
  const things = named.results.slice(0, limit - alerts.length);
  const isWhole = things.length === named.results.length && page.next === null;
  return {
    results: [...things, ...alerts],
    complete: named.complete && page.complete && isWhole,
  };
}

/** Only plain words can be names: `level:error` is a search for alerts. */
function thingsNamed(reader: Reader, text: string): SearchAnswer {
  const { words, id, level, rule, project, keys, labels } = readAlertQuery(text);
  const isOfAlerts = id ?? level ?? rule ?? project ?? keys[0] ?? labels[0];
  if (words.length === 0 || (isOfAlerts !== null && isOfAlerts !== undefined))
    return { results: [], complete: true };
  let complete = true;
  const results = KINDS.flatMap(({ kind, sql, path }) => {
    const rows = reader.sql<[limit: number], Named>(`${sql} LIMIT ?`).all(MOST_OF_KIND);
    complete &&= rows.length < MOST_OF_KIND;
    return rows
      .filter(({ title, sub }) => {
        const name = (kind === "person" ? `${title}\n${sub}` : title).toLowerCase();
        return words.every((word) => name.includes(word));
      })
      .map((row): Found => ({ kind, title: row.title, sub: row.sub, path: path(row), id: row.id }));
  });
  return { results: results.sort((a, b) => a.title.length - b.title.length), complete };
}
