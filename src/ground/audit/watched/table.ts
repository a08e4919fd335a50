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

/** Columns that are stored as text, under their own names. */
export const texts = (...columns: string[]): WatchedTable["fields"] =>
  Object.fromEntries(columns.map((column) => [column, [column, "text"]]));
