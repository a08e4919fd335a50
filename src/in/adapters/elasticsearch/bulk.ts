import { filledLines } from "../../../ground/kit/text.ts";
import { MOST_LINES, type Rejected, UnreadableBody } from "../adapter.ts";
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

const VERBS = ["create", "index", "update", "delete"] as const;
/** Stands for an unreadable line: a sender that gets a fault repeats everything. */
const UNREAD: BulkAction = { verb: "create", index: "", id: "", document: null };

/** The actions in order; `index` is from the path. Throws UnreadableBody for too many. */
export function readBulk(body: Buffer, index: string) {
  const lines = filledLines(body.toString(), 2 * MOST_LINES);
  const actions: BulkAction[] = [];
  const rejected: Rejected[] = [];
  for (let i = 0; i < lines.length; i++) {
    if (actions.length >= MOST_LINES) throw new UnreadableBody({ why: "too_large" });
    const action = actionOf(lines[i] ?? "", index);
    if (action === null) {
      rejected.push({ reason: "an action must be create, index, update or delete" });
      actions.push(UNREAD);
      continue;
    }
    if (action.verb !== "delete") {
      const document = fieldsOf(lines[++i] ?? "");
      action.document = action.verb === "update" ? objectOf(document?.["doc"]) : document;
      if (action.document === null) rejected.push({ reason: "a document must be a JSON object" });
    }
    actions.push(action);
  }
  return { actions, rejected };
}

function fieldsOf(line: string): JsonFields | null {
  try {
    return objectOf(jsonBody(Buffer.from(line), MOST_VALUES));
  } catch {
    return null;
  }
}

function actionOf(line: string, index: string): BulkAction | null {
  const fields = fieldsOf(line);
  const verb = VERBS.find((one) => objectOf(fields?.[one]) !== null);
  if (fields === null || verb === undefined) return null;
  const about = objectOf(fields[verb]) ?? {};
  return {
    verb,
    index: asText(about["_index"]) || index,
    id: asText(about["_id"]),
    document: null,
  };
}
