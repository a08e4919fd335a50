import * as z from "zod";
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
import { sourceKinds, usualNameScope } from "../../../in/adapters/list.ts";
import { mustBeUsable } from "../../../in/adapters/mapping/chosen.ts";
import { isManager } from "../../../people/roles.ts";
import { sourceFactsOf } from "../../../tenant/source-facts.ts";
import { callSource } from "../../../tenant/source-verbs.ts";
import type { Route } from "../route.ts";
import { inProject, ofSource, routesIn } from "../scope.ts";

const sources = routesIn(inProject, { at: "/sources", tag: "Sources" });
const source = routesIn(ofSource, { tag: "Sources" });

/** What its sender speaks, and the usual room of that. Throws 400 for a kind that there isn't. */
function kindOf({ kind = EVENTS, room, options }: z.output<typeof sourceCreate>) {
  const usual = usualNameScope(kind);
  if (usual === null)
    throw invalid([{ field: "/kind", reason: `must be one of ${sourceKinds.join(", ")}` }]);
  mustBeUsable(kind, options);
  return { kind, room: room ?? usual };
}

/** contract §15, Sources. */
export const sourceRoutes: Route[] = [
  sources.get("", {
    name: "listSources",
    summary: "The project's sources, by name",
    answer: z.object({
      sources: z.array(sourceAnswer),
      facts: z.array(sourceFacts).meta({
        description: "What became of each one's events since the start, in the same order.",
      }),
    }),
    handle: ({ tenant, project }) => {
      const sources = listSources(tenant.store, project);
      const facts = sources.map(({ name }) =>
        sourceFactsOf(tenant, getSource(tenant.store, project, name), false),
      );
      return { sources, facts };
    },
  }),
  sources.post("", {
    name: "createSource",
    summary: "Create a source and its ingest token",
    body: sourceCreate,
    readOnly: ["created_at"],
    status: 201,
    answer: sourceToken,
    errors: ["name_taken", "too_many", "invalid_mapping"],
    write: (tx, { tenant, body, project }) =>
      createSource(tx, project, {
        tenantId: tenant.id,
        name: body.name,
        retainLogs: body.retain_logs ?? false,
        ...kindOf(body),
        options: body.options,
      }),
  }),
  sources.put("/{name}", {
    name: "updateSource",
    summary: "Change a source: whether its events are kept for the log tail, `room` and `options`",
    body: sourceChange,
    readOnly: ["name", "created_at", "kind"],
    answer: z.object({ name: z.string(), retain_logs: z.boolean() }),
    errors: ["invalid_mapping"],
    write: (tx, { project, params: { name }, body: { retain_logs, room, options } }) => {
      mustBeUsable(getSource(tx, project, name).kind, options);
      changeSource(tx, project, { name, retainLogs: retain_logs, room, options });
      return { name, retain_logs };
    },
  }),
  sources.post("/{name}/rename", {
    name: "renameSource",
    summary:
      "Rename a source; its token keeps working, and rules, silences and open alerts of its project follow",
    additive: true,
    body: sourceRename,
    answer: z.object({ name: z.string() }),
    errors: ["name_taken"],
    write: (tx, { params, body }) => {
      callSource(tx, { project: params.id, source: params.name }, body.name);
      return { name: body.name };
    },
  }),
  sources.delete("/{name}", {
    name: "deleteSource",
    summary: "Delete a source; its token stops authenticating",
    errors: ["source_in_use"],
    write: (tx, { params, project }) => deleteSource(tx, project, params.name),
  }),
  source.get("/facts", {
    name: "getSourceFacts",
    summary:
      "What became of a source's events since the start: taken, refused and why, matched by no rule",
    additive: true,
    answer: sourceFacts,
    handle: ({ tenant, actor, source }) => sourceFactsOf(tenant, source, isManager(actor.role)),
  }),
  sources.post("/{name}/rotate-token", {
    name: "rotateSourceToken",
    summary: "Replace a source's ingest token",
    manager: true,
    answer: sourceToken,
    write: (tx, { tenant, params, project }) =>
      rotateToken(tx, project, { tenantId: tenant.id, name: params.name }),
  }),
];
