import type { Action } from "../../core/projects/action.ts";
import {
  createAction,
  listActions,
  mustStayThere,
  replaceAction,
  storedHeaders,
} from "../../core/projects/actions.ts";
import type { Guard } from "../../core/projects/integration-input.ts";
import type { Project } from "../../core/projects/projects.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import type { Tx } from "../../ground/store/store.ts";
import { textOf } from "./apply-integrations.ts";
import { at } from "./pointer.ts";
import type { ActionConfig } from "./shape.ts";

/** Makes and changes the wanted actions. Deleting the others comes later, because rules may still name them. */
export function applyActions(
  tx: Tx,
  project: Project,
  { wanted, guard }: { wanted: readonly ActionConfig[]; guard: Guard },
): void {
  const present = new Map<string, Action>(
    listActions(tx, project).map(({ headers: _h, body: _b, ...action }) => [action.name, action]),
  );
  for (const [i, config] of wanted.entries())
    at(`/config/actions/${i}`, () => {
      const before = present.get(config.name) ?? null;
      const write = writeOf(tx, config, { before, guard });
      if (before === null) createAction(tx, project, { write, guard });
      else replaceAction(tx, project, { id: before.id, write, guard });
    });
}

function writeOf(
  tx: Tx,
  config: ActionConfig,
  { before, guard }: { before: Action | null; guard: Guard },
) {
  const { name, method, url, enabled, events, timeout_seconds } = config;
  if (config.body === "kept" && before?.has_body !== true) throw nothingKept(["/body"]);
  const kept = Object.keys(config.headers).filter((header) => config.headers[header] === "kept");
  const fields = kept.map((header) => `headers/${header}`);
  if (before !== null)
    mustStayThere(before, url, [...fields, ...(config.body === "kept" ? ["body"] : [])]);
  return {
    name,
    method,
    url,
    enabled,
    events,
    timeout_seconds,
    headers: headersOf(tx, config, { before, guard }),
    body: config.body === null ? "" : textOf(config.body),
  };
}

/** undefined where nothing changes; else all headers, with the stored values of those that are kept. */
function headersOf(
  tx: Tx,
  { headers }: ActionConfig,
  { before, guard }: { before: Action | null; guard: Guard },
): Record<string, string> | undefined {
  const names = Object.keys(headers).sort();
  const kept = names.filter((name) => headers[name] === "kept");
  const stored = before?.header_keys ?? [];
  const same = kept.length === names.length && names.join("\n") === stored.toSorted().join("\n");
  if (same) return undefined;
  const values = kept.length > 0 && before !== null ? storedHeaders(tx, before.id, guard) : {};
  const missing = kept.filter((name) => values[name] === undefined);
  if (missing.length > 0) throw nothingKept(missing.map((name) => `/headers/${name}`));
  return Object.fromEntries(
    names.map((name) => [name, textOf(headers[name]) ?? values[name] ?? ""]),
  );
}

function nothingKept(fields: readonly string[]): ServiceError {
  return new ServiceError(
    "missing_credential",
    "A field says kept, and the box has no stored value for it: write the value, as {env: NAME} or {file: path}.",
    {
      details: fields.map((field) => ({ field, reason: "missing_credential" })),
    },
  );
}
