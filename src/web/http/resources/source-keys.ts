import { z } from "zod";
import { getProject } from "../../../core/projects/projects.ts";
import { sourceKey, sourceKeyAdd } from "../../../core/projects/source.ts";
import {
  addSourceKey,
  deleteSourceKey,
  listSourceKeys,
} from "../../../core/projects/source-keys.ts";
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";

const keysPath = z.strictObject({ id: z.string(), name: z.string() });
const keyPath = keysPath.extend({ kid: z.string() });

/** Keys that senders have of an earlier tool (contract §23). */
export const sourceKeyRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/projects/{id}/sources/{name}/keys",
    name: "listSourceKeys",
    tag: "Sources",
    summary: "The further keys of an adapter's source, by when they were added",
    plane: "api",
    additive: true,
    params: keysPath,
    status: 200,
    answer: z.object({ keys: z.array(sourceKey) }),
    errors: ["not_found"],
    handle: ({ tenant, params }) => ({
      keys: listSourceKeys(tenant.store, getProject(tenant.store, params.id), params.name),
    }),
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/sources/{name}/keys",
    name: "addSourceKey",
    tag: "Sources",
    summary: "Let a sender's key of an earlier tool open the source too",
    plane: "api",
    additive: true,
    manager: true,
    params: keysPath,
    body: sourceKeyAdd,
    readOnly: ["id", "added_at"],
    status: 201,
    answer: sourceKey,
    errors: [
      ...(["invalid_request", "invalid_json", "forbidden", "not_found", "name_taken"] as const),
      "too_many",
    ],
    handle: ({ tenant, params, body }) =>
      tenant.store.write((tx) =>
        addSourceKey(tx, getProject(tx, params.id), { name: params.name, key: body.key }),
      ),
  }),
  route({
    method: "DELETE",
    path: "/v1/projects/{id}/sources/{name}/keys/{kid}",
    name: "deleteSourceKey",
    tag: "Sources",
    summary: "Take a further key away; it opens nothing any more",
    plane: "api",
    additive: true,
    manager: true,
    params: keyPath,
    status: 200,
    answer: deleted,
    errors: ["forbidden", "not_found"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) =>
        deleteSourceKey(tx, getProject(tx, params.id), { name: params.name, id: params.kid }),
      );
      return { deleted: true };
    },
  }),
];
