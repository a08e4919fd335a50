import Database from "better-sqlite3";

/** Tables that grow for as long as a box runs. */
const GROWING = new Set([
  ...["alerts", "alert_people", "alert_minutes", "timeline", "events", "deliveries", "executions"],
  ...[
    "pages",
    "audit",
    "log_lines",
    "log_blocks",
    "line_outlines",
    "heartbeat_runs",
    "number_days",
    "hour_counts",
  ],
]);

/** Notes every statement that is prepared from now on. Returns how to stop, and what was noted of a store's file. */
export function noteStatements(): { of(db: Database.Database): Set<string>; stop(): void } {
  // By file: files of tests that share a process have stores of their own.
  const noted = new Map<string, Set<string>>();
  const { prepare } = Database.prototype;
  Database.prototype.prepare = function (this: Database.Database, text: string) {
    const texts = noted.get(this.name) ?? new Set();
    noted.set(this.name, texts.add(text.replaceAll(/\s+/g, " ").trim()));
    return prepare.call(this, text);
  } as typeof prepare;
  return {
    of: ({ name }) => noted.get(name) ?? new Set(),
    stop() {
      Database.prototype.prepare = prepare;
    },
  };
}

/** What may be read so, and why. */
const MAY: readonly [text: RegExp, why: string][] = [
  [/^(insert into|delete from) "projects"/, "with a project goes all that it has"],
  [/^SELECT (at|received_at) FROM \w+ ORDER BY id LIMIT 1$/, "the first alone"],
  [/^DELETE FROM audit WHERE id IN \(SELECT id FROM audit ORDER BY id LIMIT/, "the oldest few"],
  [/FROM (executions|deliveries) WHERE .* ORDER BY \w+\.id DESC LIMIT/, "the newest few"],
  [/FROM deliveries WHERE integration_id = \+\? ORDER BY id DESC LIMIT 10000\)/, "the newest few"],
  [/state IN \('open', 'acknowledged'\) LIMIT 1000\)/, "what isn't over, a thousand at most"],
  [/^SELECT 1 FROM executions WHERE .* LIMIT 1$/, "one row"],
  [/ORDER BY id DESC LIMIT 1 OFFSET \?$/, "so many back as alerts are told one by one"],
  [/^UPDATE pages SET contact_id = \+@to/, "a contact takes the place of another: seldom"],
  [/^SELECT quote\("/, "a test looks at everything"],
  [/at BETWEEN \? AND \? AND project_id <> \?/, "each project's rows are asked for"],
  [/WHERE project_id = \(SELECT id FROM p .* LIMIT 1\) LIMIT 1$/, "one row"],
];

const READS = /^(SCAN|SEARCH) (\w+)(?: USING (?:COVERING )?(?:INDEX (\w+)|(PRIMARY KEY)))?(.*)$/;
const NAMED =
  /\b(?:FROM|JOIN|INTO|UPDATE) "?(\w+)"?(?: (?:AS )?(?!where|on|set|order|group|left|inner|join|indexed|not|union|limit|values|select|default|cross)([a-z]\w*))?/gi;
/** An index that leads to no fewer rows than a whole project, state, integration or person has. */
const WIDE =
  /^ \((project_id|state|integration_id|action_id|account_id)=\?( AND state=\?)?\)$|^ \(by=\? AND span=\? AND at>/;

/** Asks for what changed since a look: to be read by that, not by all that stands. */
const SINCE = /\bupdated_seq > \?/;

/** Those of a store's noted statements that read what grows and needn't, with how. */
export const tooWide = (db: Database.Database, noted: ReturnType<typeof noteStatements>) =>
  [...noted.of(db)].flatMap((text) => {
    const reads = MAY.some(([may]) => may.test(text)) ? [] : wideReads(db, text);
    return reads.length === 0 ? [] : [`${reads.join("; ")}: ${text}`];
  });

/** How a statement reads a growing table from end to end, or all that a project has of it; none: it doesn't. */
export function wideReads(db: Database.Database, text: string): string[] {
  if (!/^(SELECT|WITH|UPDATE|DELETE|INSERT)\b/i.test(text)) return [];
  const isPartial = db
    .prepare<[string]>("SELECT 1 FROM sqlite_schema WHERE name = ? AND sql LIKE '% WHERE %'")
    .pluck();
  const tables = new Map(
    [...text.matchAll(NAMED)].flatMap(([, table = "", alias = table]) => [
      [table, table],
      [alias, table],
    ]),
  );
  return plan(db, text).filter((step) => {
    const [, how, name = "", index, , rest = ""] = READS.exec(step) ?? [];
    if (how === undefined || !GROWING.has(tables.get(name) ?? name)) return false;
    if (
      SINCE.test(text) &&
      (tables.get(name) ?? name) === "alerts" &&
      !/updated_seq>|rowid=/.test(rest)
    )
      return true;
    // A partial index has only what isn't over.
    if (index !== undefined && isPartial.get(index) !== undefined) return false;
    return how === "SCAN" || WIDE.test(rest);
  });
}

function plan(db: Database.Database, text: string): string[] {
  const explain = db.prepare(`EXPLAIN QUERY PLAN ${text}`);
  const names = [...text.matchAll(/[:@]([a-z]\w*)/gi)].map(([, name]) => [name, 1] as const);
  const values = names.length > 0 ? [Object.fromEntries(names)] : Array(marks(text)).fill(1);
  return explain.all(...values).map((row) => (row as { detail: string }).detail);
}

const marks = (text: string) => text.replaceAll(/'[^']*'/g, "").split("?").length - 1;
