import { z } from "zod";
import { getProject } from "../../../core/projects/projects.ts";
import {
  sourceAnswer,
  sourceChange,
  sourceCreate,
  sourceFacts,
  sourceRename,
  sourceToken,
} from "../../../core/projects/source.ts";
import {
  changeSource,
  createSource,
  deleteSource,
  EVENTS,
  getSource,
  listSources,
  rotateToken,
} from "../../../core/projects/sources.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import { sourceKinds, usualRoom } from "../../../in/adapters/list.ts";
import { mustBeUsable } from "../../../in/adapters/mapping/chosen.ts";
import { isManager } from "../../../people/roles.ts";
import { sourceFactsOf } from "../../../tenant/source-facts.ts";
import { callSource } from "../../../tenant/source-verbs.ts";
import { deleted, projectPath } from "../fields.ts";
import { type Route, route } from "../route.ts";

const sourcePath = z.strictObject({ id: z.string(), name: z.string() });
/** What its sender speaks, and the usual room of that. Throws 400 for a kind that there isn't. */
function kindOf({ kind = EVENTS, room, options }: z.output<typeof sourceCreate>) {
  const usual = usualRoom(kind);
  if (usual === null)
    throw invalid([{ field: "/kind", reason: `must be one of ${sourceKinds.join(", ")}` }]);
  mustBeUsable(kind, options);
  return { kind, room: room ?? usual };
}

/** contract §15, Sources. */
export const sourceRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/projects/{id}/sources",
    name: "listSources",
    tag: "Sources",
    summary: "The project's sources, by name",
    plane: "api",
    params: projectPath,
    status: 200,
    answer: z.object({
      sources: z.array(sourceAnswer),
      facts: z.array(sourceFacts).meta({
        description:
          "Additive: what became of each one's events since the start, in the same order.",
      }),
    }),
    errors: ["not_found"],
    handle: ({ tenant, params }) => {
      const project = getProject(tenant.store, params.id);
      const sources = listSources(tenant.store, project);
      const facts = sources.map(({ name }) =>
        sourceFactsOf(tenant, getSource(tenant.store, project, name), false),
      );
      return { sources, facts };
    },
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/sources",
    name: "createSource",
    tag: "Sources",
    summary: "Create a source and its ingest token",
    plane: "api",
    params: projectPath,
    body: sourceCreate,
    readOnly: ["created_at"],
    status: 201,
    answer: sourceToken,
    errors: [
      "invalid_request",
      "invalid_json",
      "not_found",
      "name_taken",
      "too_many",
      "invalid_mapping",
    ],
    handle: ({ tenant, params, body }) =>
      tenant.store.write((tx) =>
        createSource(tx, getProject(tx, params.id), {
          tenantId: tenant.id,
          name: body.name,
          retainLogs: body.retain_logs ?? false,
          ...kindOf(body),
          options: body.options,
        }),
      ),
  }),
  route({
    method: "PUT",
    path: "/v1/projects/{id}/sources/{name}",
    name: "updateSource",
    tag: "Sources",
    summary: "Say whether a source's events are kept for the log tail",
    plane: "api",
    params: sourcePath,
    body: sourceChange,
    readOnly: ["name", "created_at", "kind"],
    status: 200,
    answer: z.object({ name: z.string(), retain_logs: z.boolean() }),
    errors: ["invalid_request", "invalid_json", "not_found", "invalid_mapping"],
    handle: ({ tenant, params, body }) => {
      tenant.store.write((tx) => {
        const project = getProject(tx, params.id);
        mustBeUsable(getSource(tx, project, params.name).kind, body.options);
        changeSource(tx, project, {
          name: params.name,
          retainLogs: body.retain_logs,
          room: body.room,
          options: body.options,
        });
      });
      return { name: params.name, retain_logs: body.retain_logs };
    },
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/sources/{name}/rename",
    name: "renameSource",
    tag: "Sources",
    summary:
      "Rename a source; its token keeps working, and rules, silences and open alerts of its project follow",
    plane: "api",
    additive: true,
    params: sourcePath,
    body: sourceRename,
    status: 200,
    answer: z.object({ name: z.string() }),
    errors: ["invalid_request", "invalid_json", "not_found", "name_taken"],
    handle: ({ tenant, params, body }) => {
      const place = { project: params.id, source: params.name };
      tenant.store.write((tx) => callSource(tx, place, body.name));
      return { name: body.name };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/projects/{id}/sources/{name}",
    name: "deleteSource",
    tag: "Sources",
    summary: "Delete a source; its token stops authenticating",
    plane: "api",
    params: sourcePath,
    status: 200,
    answer: deleted,
    errors: ["not_found", "source_in_use"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => deleteSource(tx, getProject(tx, params.id), params.name));
      return { deleted: true };
    },
  }),
  route({
    method: "GET",
    path: "/v1/projects/{id}/sources/{name}/facts",
    name: "getSourceFacts",
    tag: "Sources",
    summary:
      "What became of a source's events since the start: taken, refused and why, matched by no rule",
    plane: "api",
    additive: true,
    params: sourcePath,
    status: 200,
    answer: sourceFacts,
    errors: ["not_found"],
    handle: ({ tenant, actor, params }) => {
      const source = getSource(tenant.store, getProject(tenant.store, params.id), params.name);
      return sourceFactsOf(tenant, source, isManager(actor.role));
    },
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/sources/{name}/rotate-token",
    name: "rotateSourceToken",
    tag: "Sources",
    summary: "Replace a source's ingest token",
    plane: "api",
    manager: true,
    params: sourcePath,
    status: 200,
    answer: sourceToken,
    errors: ["forbidden", "not_found"],
    handle: ({ tenant, params }) =>
      tenant.store.write((tx) =>
        rotateToken(tx, getProject(tx, params.id), { tenantId: tenant.id, name: params.name }),
      ),
  }),
];
