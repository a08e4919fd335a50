import { alertId, findAlertRow, mustBeLive } from "../../../core/alerts/alert.ts";
import { titleOfAlert } from "../../../core/alerts/title.ts";
import { getProject, type Project } from "../../../core/projects/projects.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { createReport, passwordChange } from "../../../records/reports/reports.ts";
import { reportCreate } from "../../../records/reports/written.ts";
import { type Form, type PageCall, pathOf, type Screen } from "../screen.ts";
import { area, field, typed } from "../ui/form.ts";

/** A new report, of an alert (`?alert=130`) or of something that no alert knows. */
export const newReportScreen: Screen = {
  path: "/p/{project}/reports/new",
  view(call) {
    const project = getProject(call.tenant.store, call.params["project"] ?? "");
    return {
      title: "New incident report",
      nav: "projects",
      sections: { report: () => newForm(call, project) },
    };
  },
  forms: { "": createForm() },
};

/** The alert of the address, where it is one of this project's. */
function tied({ query, tenant }: PageCall, project: Project) {
  const named = query.get("alert") ?? "";
  const row = /^\d{1,15}$/.test(named) ? findAlertRow(tenant.store, alertId(named)) : null;
  return row !== null && row.project_id === project.id ? row : null;
}

function newForm(call: PageCall, project: Project): Markup {
  const action = pathOf("p", project.name, "reports", "new");
  const alert = tied(call, project);
  const tie = typed(call, action, "alert_id", alert === null ? "" : String(alert.id));
  return html`<p class="soft">A public page with an address that nobody can guess. It shows only what you write.</p>
<form class="form" method="post" action="${call.base}${action}">
<input type="hidden" name="alert_id" value="${tie}">
${tie !== "" && html`<p>About <a href="${call.base}/a/${tie}">alert #${tie}</a>: readers aren't told of it, and the box drafts entries from its history.</p>`}
${field(call, action, { name: "title", label: "Title", prose: true, value: alert === null ? "" : titleOfAlert(alert), required: true, autocomplete: "off", hint: `${alert === null ? "" : "The alert's, for you to rewrite. "}What readers notice: “Card payments are slow”, not what broke.` })}
${area(call, action, { name: "description", label: "What is known", rows: 4, hint: "Optional, plain text. The page shows it above the entries." })}
<input type="text" autocomplete="username" value="report" hidden>
${field(call, action, { name: "view_password", label: "Password for readers", type: "password", autocomplete: "new-password", hint: "Optional: protect it now, open it later." })}
<p class="form-foot"><button class="button">Make the report</button></p></form>
<p class="soft">The page exists at once and says “Reported” until the first entry.</p>`;
}

function createForm(): Form {
  return {
    verb: "createReport",
    async act({ tenant, who, params }, form) {
      const body = check(
        reportCreate,
        {
          title: (form.get("title") ?? "").trim(),
          description: formText(form, "description").trim(),
          alert_id: form.get("alert_id") ?? "",
          view_password: form.get("view_password") ?? "",
        },
        "body",
      );
      const change = await passwordChange(tenant.passwords, body.view_password);
      const { project = "" } = params;
      const { id } = tenant.store.write((tx) => {
        const own = getProject(tx, project);
        return createReport(tx, own, {
          title: body.title,
          description: body.description,
          createdBy: who.accountId,
          alertId: body.alert_id === "" ? null : mustBeLive(tx, own.id, body.alert_id),
          passwordHash: typeof change === "object" ? change.hash : null,
        });
      });
      return {
        said: "The report's page exists now. Write what its readers need first.",
        to: pathOf("p", project, "reports", id),
      };
    },
  };
}

/** A field of several lines with the line breaks that were typed: forms send all of them as CR LF. */
export function formText(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? "").replace(/\r\n?/g, "\n");
}
