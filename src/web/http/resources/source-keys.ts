import * as z from "zod";
import { sourceKey, sourceKeyAdd } from "../../../core/projects/source.ts";
import {
  addSourceKey,
  deleteSourceKey,
  listSourceKeys,
} from "../../../core/projects/source-keys.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";

const keys = routesIn(inProject, { at: "/sources/{name}/keys", tag: "Sources", additive: true });

/** Keys that senders have of an earlier tool (contract §23). */
export const sourceKeyRoutes: Route[] = [
  keys.get("", {
    name: "listSourceKeys",
    summary: "The further keys of an adapter's source, by when they were added",
    answer: z.object({ keys: z.array(sourceKey) }),
    read: (store, { project, params }) => ({ keys: listSourceKeys(store, project, params.name) }),
  }),
  keys.post("", {
    name: "addSourceKey",
    summary: "Let a sender use its key of another system for this source, too",
    manager: true,
    body: sourceKeyAdd,
    readOnly: ["id", "added_at"],
    status: 201,
    answer: sourceKey,
    errors: ["name_taken", "too_many"],
    write: (tx, { params, body, project }) =>
      addSourceKey(tx, project, { name: params.name, key: body.key }),
  }),
  keys.delete("/{kid}", {
    name: "deleteSourceKey",
    summary: "Remove a further key; it stops working",
    manager: true,
    write: (tx, { params, project }) =>
      deleteSourceKey(tx, project, { name: params.name, id: params.kid }),
  }),
];
