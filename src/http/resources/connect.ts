import { z } from "zod";
import { listAlerts } from "../../alerts/list.ts";
import { connect } from "../../connect/connect.ts";
import {
  connectBody,
  connectionAnswer,
  type HeardAnswer,
  heardAnswer,
} from "../../connect/connection.ts";
import { listAccounts } from "../../people/accounts.ts";
import { getProject, type Project } from "../../projects/projects.ts";
import { listRules } from "../../projects/rules.ts";
import { getSource } from "../../projects/sources.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { projectPath } from "../fields.ts";
import { type Route, route } from "../route.ts";

const sourcePath = z.strictObject({ id: z.string(), name: z.string() });
const SHOWN = 500;

/** Connecting senders (contract §23). */
export const connectRoutes: Route[] = [
  route({
    method: "POST",
    path: "/v1/projects/{id}/connect",
    name: "connectSender",
    tag: "Sources",
    summary: "Connect a sender: its source, a rule where none would hear it, what to paste there",
    plane: "api",
    additive: true,
    params: projectPath,
    body: connectBody,
    status: 201,
    answer: connectionAnswer,
    errors: ["invalid_request", "invalid_json", "not_found", "name_taken", "too_many"],
    handle: ({ tenant, params, body }) => {
      const made = tenant.store.write((tx) =>
        connect(tx, getProject(tx, params.id), {
          ...{ tenantId: tenant.id, base: tenant.publicUrl, ...body },
        }),
      );
      const project = getProject(tenant.store, params.id);
      tenant.ingest.listen(getSource(tenant.store, project, made.name).id);
      return made;
    },
  }),
  route({
    method: "GET",
    path: "/v1/projects/{id}/sources/{name}/heard",
    name: "getSourceHeard",
    tag: "Sources",
    summary: "What became of the first event of a source since it was connected",
    plane: "api",
    additive: true,
    params: sourcePath,
    status: 200,
    answer: heardAnswer,
    errors: ["not_found"],
    handle: ({ tenant, params }) => {
      const project = getProject(tenant.store, params.id);
      const { id } = getSource(tenant.store, project, params.name);
      return { heard: heardOf(tenant, project, id) };
    },
  }),
];

function heardOf(tenant: Tenant, project: Project, sourceId: number): HeardAnswer["heard"] {
  const { store, ingest } = tenant;
  const first = ingest.listen(sourceId);
  if (first === null) return null;
  const { at, event, source, templateId } = first;
  const rules = ingest.takers(source, event);
  const { alerts } = listAlerts(store, { projectId: project.id, limit: 50 });
  const alert = alerts.find((one) => rules.includes(one.rule) && one.last_seen >= at) ?? null;
  const emails = new Map(listAccounts(store).map(({ id, email }) => [id, email]));
  const emailOf = (id: string) => emails.get(id) ?? id;
  const steps = listRules(store, project.id)
    .filter(({ name }) => rules.includes(name))
    .flatMap(({ escalations }) => escalations.slice(0, 1));
  const would = steps.flatMap((step) => [...step.accounts.map(emailOf), ...step.schedules]);
  return {
    ...{ at, message: event.message.slice(0, SHOWN), level: event.level },
    template: ingest.rootOf(project.id, templateId).slice(0, SHOWN),
    rules,
    alert: alert?.id ?? null,
    pages: [...new Set(alert === null ? would : alert.page_accounts.map(emailOf))],
  };
}
