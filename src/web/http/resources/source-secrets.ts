import { z } from "zod";
import { getProject } from "../../../core/projects/projects.ts";
import { sourceSecret } from "../../../core/projects/source.ts";
import { setSourceSecret } from "../../../core/projects/source-secrets.ts";
import { getSource } from "../../../core/projects/sources.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import { signers } from "../../../in/adapters/list.ts";
import { type Route, route } from "../route.ts";

const secretPath = z.strictObject({ id: z.string(), name: z.string() });
const signed = z.object({ name: z.string(), signed: z.boolean() });

const common = { tag: "Sources", plane: "api", additive: true, manager: true } as const;

/** What a sender signs its requests with, beside the token in its address (contract §23). */
export const sourceSecretRoutes: Route[] = [
  route({
    ...common,
    method: "PUT",
    path: "/v1/projects/{id}/sources/{name}/secret",
    name: "setSourceSecret",
    summary: "From now on only requests that are signed with this secret are taken",
    params: secretPath,
    body: sourceSecret,
    status: 200,
    answer: signed,
    errors: ["invalid_request", "invalid_json", "forbidden", "not_found"],
    handle: ({ tenant: { store, sealer }, params: { id, name }, body: { secret } }) =>
      store.write((tx) => {
        const project = getProject(tx, id);
        const { kind } = getSource(tx, project, name);
        if (!signers.includes(kind))
          throw invalid([{ field: "/secret", reason: `a sender of kind ${kind} signs nothing` }]);
        setSourceSecret(tx, project, { name, secret, sealer });
        return { name, signed: true };
      }),
  }),
  route({
    ...common,
    method: "DELETE",
    path: "/v1/projects/{id}/sources/{name}/secret",
    name: "deleteSourceSecret",
    summary: "Signatures are not looked at any more",
    params: secretPath,
    status: 200,
    answer: signed,
    errors: ["forbidden", "not_found"],
    handle: ({ tenant: { store, sealer }, params: { id, name } }) =>
      store.write((tx) => {
        setSourceSecret(tx, getProject(tx, id), { name, secret: null, sealer });
        return { name, signed: false };
      }),
  }),
];
