import * as z from "zod";
import {
  sourceAnswer,
  sourceChange,
  sourceCreate,
  sourceFacts,
  sourceKey,
  sourceKeyAdd,
  sourceRename,
  sourceSecret,
  sourceToken,
} from "../../../core/projects/source.ts";
import {
  addSourceKey,
  deleteSourceKey,
  listSourceKeys,
} from "../../../core/projects/source-keys.ts";
import { setSourceSecret } from "../../../core/projects/source-secrets.ts";
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
import { signers, sourceKinds, usualNameScope } from "../../../in/adapters/list.ts";
import { mustBeUsable } from "../../../in/adapters/mapping/chosen.ts";
import { isManager } from "../../../people/roles.ts";
import { callSource, sourceFactsOf } from "../../../tenant/source-verbs.ts";
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
    // Whether requests are signed is set later, and isn't passed over here.
    reads: sourceAnswer.omit({ signed: true }),
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
    summary: "Change a source: whether its log lines are kept, `room` and `options`",
    body: sourceChange,
    reads: sourceAnswer,
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
      "What became of a source's events since the start: accepted, refused and why, matched by no rule",
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
    reads: sourceKey,
    status: 201,
    answer: sourceKey,
    errors: ["name_taken", "too_many"],
    write: (tx, { params, body, project }) =>
      addSourceKey(tx, project, { name: params.name, key: body.key }),
  }),
  keys.delete("/{kid}", {
    name: "deleteSourceKey",
    summary: "Remove a key of another system; it stops working",
    manager: true,
    write: (tx, { params, project }) =>
      deleteSourceKey(tx, project, { name: params.name, id: params.kid }),
  }),
];

const secret = routesIn(ofSource, {
  at: "/secret",
  tag: "Sources",
  additive: true,
  manager: true,
});
const signed = z.object({ name: z.string(), signed: z.boolean() });

/** What a sender signs its requests with, beside the token in its address (contract §23). */
export const sourceSecretRoutes: Route[] = [
  secret.put("", {
    name: "setSourceSecret",
    summary: "Set a secret: from now on only requests that are signed with it are accepted",
    body: sourceSecret,
    answer: signed,
    write: (tx, { tenant: { sealer }, project, source: { name, kind }, body: { secret } }) => {
      if (!signers.includes(kind))
        throw invalid([{ field: "/secret", reason: `a sender of kind ${kind} signs nothing` }]);
      setSourceSecret(tx, project, { name, secret, sealer });
      return { name, signed: true };
    },
  }),
  secret.delete("", {
    name: "deleteSourceSecret",
    summary: "Remove the secret: signatures are no longer checked",
    answer: signed,
    write: (tx, { tenant: { sealer }, project, source: { name } }) => {
      setSourceSecret(tx, project, { name, secret: null, sealer });
      return { name, signed: false };
    },
  }),
];
