import { MOST_LINES, type Rejected, UnreadableBody } from "../adapter.ts";
import { byteLines } from "../byte-lines.ts";
import { asText, type JsonFields, jsonBody, objectOf } from "../json.ts";

/** One action of a bulk request, with its document if it has one. */
export interface BulkAction {
  verb: "create" | "index" | "update" | "delete";
  index: string;
  /** Empty: an id is made for it. */
  id: string;
  document: JsonFields | null;
}

/** Values of one document; an event holds a hundred. */
const MOST_VALUES = 10_000;

/** Of an id, as Elasticsearch has it; the answer says each again. */
const MOST_NAME = 512;
const NOTHING = Buffer.alloc(0);

const VERBS = ["create", "index", "update", "delete"] as const;
/** Stands for an unreadable line: a sender that gets a fault repeats everything. */
const UNREAD: BulkAction = { verb: "create", index: "", id: "", document: null };

/** The actions in order; `index` is from the path. Throws UnreadableBody for too many. */
export function readBulk(body: Buffer, index: string) {
  const lines = byteLines(body, 2 * MOST_LINES);
  const actions: BulkAction[] = [];
  const rejected: Rejected[] = [];
  for (let i = 0; i < lines.length; i++) {
    if (actions.length >= MOST_LINES) throw new UnreadableBody({ why: "too_large" });
    const action = actionOf(lines[i] as Buffer, index);
    if (action === null) {
      rejected.push({ reason: "an action must be create, index, update or delete" });
      actions.push(UNREAD);
      continue;
    }
    if (action.verb !== "delete") {
      const document = fieldsOf(lines[++i] ?? NOTHING);
      action.document = action.verb === "update" ? objectOf(document?.["doc"]) : document;
      if (action.document === null) rejected.push({ reason: "a document must be a JSON object" });
    }
    actions.push(action);
  }
  return { actions, rejected };
}

function fieldsOf(line: Buffer): JsonFields | null {
  try {
    return objectOf(jsonBody(line, MOST_VALUES));
  } catch {
    return null;
  }
}

/** Empty for what is too long to be a name. */
function nameIn(value: unknown): string {
  const name = asText(value);
  return name.length > MOST_NAME ? "" : name;
}

function actionOf(line: Buffer, index: string): BulkAction | null {
  const fields = fieldsOf(line);
  const verb = VERBS.find((one) => objectOf(fields?.[one]) !== null);
  if (fields === null || verb === undefined) return null;
  const about = objectOf(fields[verb]) ?? {};
  return {
    verb,
    index: nameIn(about["_index"]) || index,
    id: nameIn(about["_id"]),
    document: null,
  };
}
