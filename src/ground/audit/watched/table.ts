/** How the audit looks at a table. */

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

/** When a row was made and changed: nobody wants that of it. */
export const times = ["created_at", "updated_at"];
