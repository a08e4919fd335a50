import { getAlertRow } from "../../../core/alerts/alert.ts";
import { listAlerts } from "../../../core/alerts/list.ts";
import { configVersions, findProject } from "../../../core/projects/projects.ts";
import { listRules } from "../../../core/projects/rules.ts";
import { findSourceNamed } from "../../../core/projects/sources.ts";
import { confirmedTimes } from "../../../out/contacts/confirmed.ts";
import { listContacts } from "../../../out/contacts/contacts.ts";
import type { PageCall } from "../screen.ts";

/** What the first steps make, by the names that they give. */
export const FIRST = { project: "first", source: "web", rule: "errors" } as const;

/** How far somebody has come. */
export type FirstSteps = ReturnType<typeof firstStepsOf>;

export function firstStepsOf({ tenant: { store }, who }: PageCall) {
  const contacts = listContacts(store, who.accountId);
  const project = findProject(store, FIRST.project);
  const source = project === null ? null : findSourceNamed(store, FIRST);
  const [newest] =
    project === null ? [] : listAlerts(store, { projectId: project.id, limit: 1 }).alerts;
  const used = contacts.filter(({ state }) => state === "verified");
  const confirmed = confirmedTimes(store, who.accountId);
  return {
    /** A way that rings; null: none yet. */
    rings: used.find(({ id }) => confirmed.has(id)) ?? null,
    /** A browser that was added and hasn't shown anything yet. */
    browser: used.find(({ id, kind }) => kind === "web_push" && !confirmed.has(id)) ?? null,
    /** One that waits for its code. */
    waiting: contacts.findLast(({ state }) => state === "unverified") ?? null,
    /** The source that was made for them; null: not yet. */
    source,
    /** Others have set the box up: it has projects, and none that was made here for this person. */
    isFurnished:
      configVersions(store).length > 0 &&
      (project === null || !pages(listRules(store, project.id), who.accountId)),
    /** The newest alert of it. */
    alert: newest === undefined ? null : getAlertRow(store, Number(newest.id)),
  };
}

/** Whether one of the ladders names the person: then it was made for them, and its alerts are theirs. */
const pages = (rules: ReturnType<typeof listRules>, account: string): boolean =>
  rules.some(({ escalations }) => escalations.some(({ accounts }) => accounts.includes(account)));

/** A way to be reached, as a person calls it. */
export const wayName = (kind: string, label = ""): string =>
  kind === "web_push" ? label || "your browser" : kind;
