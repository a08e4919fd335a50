import { listRules } from "../../core/projects/rules.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import type { SqlValue } from "../../ground/store/database.ts";
import type { Store, Tx } from "../../ground/store/store.ts";
import { type HeardBook, readHeard } from "./first-seen.ts";
import type { HourCounts } from "./hour-counts.ts";
import { compileRule, createRuleSet, type RuleSet } from "./match.ts";
import { mergeKeys } from "./merged-keys.ts";
import { Miner, type MinerRow } from "./template/miner.ts";
import type { TemplateCounts } from "./template-counts.ts";

/** The hot path's state of one project. */
export interface ProjectState {
  readonly miner: Miner;
  readonly rules: RuleSet;
}

export type ProjectStates = ReturnType<typeof createProjectStates>;

const ROWS =
  "SELECT id, shape, text, alias_of AS aliasOf, state FROM templates WHERE project_id = ? ORDER BY id";
const UPSERT = `INSERT INTO templates (project_id, id, shape, text, alias_of, state) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (project_id, id) DO UPDATE SET shape = excluded.shape, text = excluded.text, alias_of = excluded.alias_of, state = excluded.state`;

interface Held {
  miner: Miner;
  heard: HeardBook | null;
  /** The trimming round in which it was last used. */
  usedIn: number;
}

/** Calls between two trimmings, because counting takes time with many projects. */
const TRIM_EVERY = 64;

export function createProjectStates(
  store: Store,
  limits: { templates: number; heldTemplates: number },
  { hours, counts }: { hours: HourCounts; counts: TemplateCounts },
) {
  const states = new Map<number, Held>();
  const ruleSets = new Map<number, RuleSet>();
  let round = 0;
  let loaded = false;

  const load = (projectId: number) => {
    let state = states.get(projectId);
    if (state === undefined) {
      const rows = store.sql<[projectId: number], MinerRow>(ROWS).all(projectId);
      const miner = new Miner({ limit: limits.templates, rows });
      state = { miner, heard: null, usedIn: round };
      states.set(projectId, state);
      loaded = true;
    }
    state.usedIn = round;
    return state;
  };

  /** Its rules alone: to load thousands of templates holds everybody up. */
  const rulesOf = (projectId: number): RuleSet => {
    let rules = ruleSets.get(projectId);
    if (rules === undefined) {
      rules = createRuleSet(listRules(store, projectId).map(compileRule));
      ruleSets.set(projectId, rules);
    }
    return rules;
  };

  return {
    /** Loaded from the store when first needed. */
    get: (projectId: number) => ({ miner: load(projectId).miner, rules: rulesOf(projectId) }),
    rules: rulesOf,
    /** When the project's templates came. Asked for before a batch is mined, because what is mined counts as known. */
    heard(projectId: number): HeardBook {
      const state = load(projectId);
      if (state.heard !== null) return state.heard;
      const rootOf = (id: string) => state.miner.rootOf(id);
      state.heard = readHeard(store, projectId, { rootOf, now: unixSeconds(store.clock) });
      return state.heard;
    },
    /** The clock jumped: times are read again. */
    forgetHeard() {
      for (const state of states.values()) state.heard = null;
    },
    reloadRules(projectId: number) {
      ruleSets.delete(projectId);
    },
    forget(projectId: number) {
      states.delete(projectId);
      ruleSets.delete(projectId);
    },
    clear() {
      states.clear();
      ruleSets.clear();
    },
    /** Drops the projects that were unused longest, when memory holds too much. Only between transactions. */
    trim() {
      if (++round % TRIM_EVERY !== 0 && !loaded) return;
      loaded = false;
      let held = 0;
      for (const { miner } of states.values()) held += miner.size;
      if (held <= limits.heldTemplates) return;
      const oldest = [...states].sort(([, a], [, b]) => a.usedIn - b.usedIn);
      for (const [projectId, { miner, usedIn }] of oldest) {
        if (held <= limits.heldTemplates || usedIn >= round - 1) return;
        held -= miner.size;
        states.delete(projectId);
        ruleSets.delete(projectId);
      }
    },
    /** Writes what the project's miner learned. Returns whether templates were merged, which changes keys of alerts. */
    writeTemplates(tx: Tx, projectId: number): boolean {
      const { miner, heard } = load(projectId);
      const changes = miner.takeChanges();
      const upsert = tx.sql<[project: number, ...row: SqlValue[]]>(UPSERT);
      for (const row of changes.rows)
        upsert.run(projectId, row.id, row.shape, row.text, row.aliasOf, row.state);
      const remove = tx.sql<[project: number, id: string]>(
        "DELETE FROM templates WHERE project_id = ? AND id = ?",
      );
      const uncount = tx.sql<[project: number, id: string]>(
        "DELETE FROM template_counts WHERE project_id = ? AND id = ?",
      );
      const unsee = tx.sql<[project: number, id: string]>(
        "DELETE FROM template_returns WHERE project_id = ? AND id = ?",
      );
      for (const id of changes.evicted) {
        remove.run(projectId, id);
        uncount.run(projectId, id);
        counts.forgetShape(projectId, id);
        unsee.run(projectId, id);
        heard?.forget(id);
      }
      for (const merge of changes.merged) {
        mergeKeys(tx, projectId, merge);
        heard?.merge(merge.younger, merge.older);
        hours.merge(tx, projectId, merge);
      }
      return changes.merged.length > 0;
    },
    stats(): { templates: number; overflowed: number } {
      let templates = 0;
      let overflowed = 0;
      for (const { miner } of states.values()) {
        templates += miner.size;
        overflowed += miner.overflowed;
      }
      return { templates, overflowed };
    },
  };
}
