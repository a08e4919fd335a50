import { listAlerts } from "../core/alerts/list.ts";
import { getProject } from "../core/projects/projects.ts";
import { listRules } from "../core/projects/rules.ts";
import { changeSource, getSource } from "../core/projects/sources.ts";
import { proposalFor } from "../in/connect/apart.ts";
import { connect } from "../in/connect/connect.ts";
import type { ConnectionAnswer, HeardAnswer } from "../in/connect/connection.ts";
import { textOfTemplate } from "../in/ingest/templates.ts";
import { listAccounts } from "../people/accounts.ts";
import type { Tenant } from "./tenant.ts";

/** A person's choices for a new sender. */
interface NewSender {
  project: string;
  kind: string;
  name?: string | undefined;
  level?: number | undefined;
  /** Whether its lines are stored. Default true. */
  retainLogs?: boolean | undefined;
}

/** Makes a sender's source and waits for its first event. `base`: the box's address. Throws 400, 404, 409, 422. */
export function connectSender(
  tenant: Tenant,
  base: string,
  { project: home, retainLogs = true, ...wanted }: NewSender,
): ConnectionAnswer {
  const made = tenant.store.write((tx) => {
    const project = getProject(tx, home);
    const connected = connect(tx, project, { tenantId: tenant.id, base, ...wanted });
    if (retainLogs) changeSource(tx, project, { name: connected.name, retainLogs });
    return connected;
  });
  const project = getProject(tenant.store, home);
  tenant.ingest.listen(getSource(tenant.store, project, made.name).id);
  return made;
}

const SHOWN = 500;

/** The result of a source's first event since this was first called; null while there is none. Throws 404. */
export function firstHeardOf(
  { store, ingest }: Tenant,
  { project: home, source: name }: { project: string; source: string },
): HeardAnswer["heard"] {
  const project = getProject(store, home);
  const first = ingest.listen(getSource(store, project, name).id);
  if (first === null) return null;
  const { at, event, source, templateId } = first;
  const rules = ingest.takers(source, event);
  const taking = listRules(store, project.id).filter(({ name }) => rules.includes(name));
  const { alerts } = listAlerts(store, { projectId: project.id, limit: 50 });
  const alert = alerts.find((one) => rules.includes(one.rule) && one.last_seen >= at) ?? null;
  const emails = new Map(listAccounts(store).map(({ id, email }) => [id, email]));
  const emailOf = (id: string) => emails.get(id) ?? id;
  const steps = taking.flatMap(({ escalations }) => escalations.slice(0, 1));
  const would = steps.flatMap((step) => [...step.accounts.map(emailOf), ...step.schedules]);
  return {
    at,
    message: event.message.slice(0, SHOWN),
    level: event.level,
    template: textOfTemplate(store, project.id, ingest.rootOf(project.id, templateId)).slice(
      0,
      SHOWN,
    ),
    rules,
    alert: alert?.id ?? null,
    pages: [...new Set(alert === null ? would : alert.page_accounts.map(emailOf))],
    proposes: proposalFor(source.kind, event, taking),
  };
}
