import * as z from "zod";
import { sourceSecret } from "../../../core/projects/source.ts";
import { setSourceSecret } from "../../../core/projects/source-secrets.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import { signers } from "../../../in/adapters/list.ts";
import type { Route } from "../route.ts";
import { ofSource, routesIn } from "../scope.ts";

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
    summary: "Set a secret: from now on only requests that are signed with it are taken",
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
