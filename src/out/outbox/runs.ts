import type { Egress } from "../../ground/kit/egress.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { sealPlace } from "../../ground/store/sealed.ts";
import type { Reader } from "../../ground/store/store.ts";
import { UNREADABLE } from "./destination.ts";
import { type ActionOutcome, sendAction } from "./senders/action.ts";

/** An action as its sender needs it. */
export interface ActionRow {
  id: string;
  project_id: number;
  name: string;
  method: string;
  url: string;
  sealed_headers: string | null;
  sealed_body: string | null;
  enabled: number;
  timeout_seconds: number;
}

const ACTION =
  "SELECT id, project_id, name, method, url, sealed_headers, sealed_body, enabled, timeout_seconds FROM actions WHERE id = ?";

/** null once it is deleted. */
export function findAction(reader: Reader, id: string): ActionRow | null {
  return reader.sql<[id: string], ActionRow>(ACTION).get(id) ?? null;
}

/** Runs an action once: alert-driven runs and test-fires take this way alike. */
export async function runAction(
  via: { egress: Egress; sealer: Sealer },
  action: ActionRow,
  eventBody: string,
): Promise<ActionOutcome> {
  const { sealer } = via;
  const headers = openOr(sealer, action, { column: "sealed_headers", none: "{}" });
  const body = openOr(sealer, action, { column: "sealed_body", none: "" });
  if (headers === null || body === null)
    return {
      verdict: { kind: "never", error: UNREADABLE },
      statusCode: null,
      durationMs: 0,
      responsePrefix: "",
      error: UNREADABLE,
    };
  return sendAction(via, {
    method: action.method,
    url: action.url,
    headers: JSON.parse(headers) as Record<string, string>,
    body: body === "" ? null : body,
    eventBody,
    timeoutSeconds: action.timeout_seconds,
  });
}

/** What is stored, `none` where nothing is, null where it can't be opened. */
function openOr(
  sealer: Sealer,
  action: ActionRow,
  { column, none }: { column: "sealed_headers" | "sealed_body"; none: string },
): string | null {
  const sealed = action[column];
  return sealed === null ? none : sealer.open(sealed, sealPlace("actions", column, action.id));
}
