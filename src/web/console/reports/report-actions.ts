import { check } from "../../../ground/kit/check.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import {
  deleteReport,
  passwordChange,
  rotateUuid,
  updateReport,
} from "../../../records/reports/reports.ts";
import { reportChange } from "../../../records/reports/written.ts";
import { type Form, pathOf } from "../screen.ts";
import { formText } from "./create.ts";
import { reportOf } from "./shown-report.ts";

/** What is done to a report as a whole. */
export const reportActions: Readonly<Record<string, Form>> = {
  change: {
    verb: "updateReport",
    act({ tenant, params }, form) {
      const { title, description } = check(
        reportChange,
        {
          title: (form.get("title") ?? "").trim(),
          description: formText(form, "description").trim(),
        },
        "body",
      );
      tenant.store.write((tx) => {
        const { project, row } = reportOf(tx, params);
        updateReport(tx, { project, id: row.id }, { title, description, password: "keep" });
      });
      return { said: "Saved. Readers see it at once." };
    },
  },
  password: {
    verb: "updateReport",
    async act({ tenant, params }, form) {
      const { row: before } = reportOf(tenant.store, params);
      const given = form.has("remove") ? "" : (form.get("view_password") ?? "");
      if (given === "" && !form.has("remove"))
        throw invalid([{ field: "/view_password", reason: "Enter one." }]);
      const { view_password } = check(
        reportChange,
        { title: before.title, view_password: given },
        "body",
      );
      const password = await passwordChange(tenant.passwords, view_password);
      tenant.store.write((tx) => {
        const { project, row } = reportOf(tx, params);
        const { title, description } = row;
        updateReport(tx, { project, id: row.id }, { title, description, password });
      });
      return {
        said:
          given === ""
            ? "Open: whoever has the address reads it."
            : "Protected: readers need the password now. It is shown nowhere: tell it to them.",
      };
    },
  },
  address: {
    verb: "rotateReportUuid",
    act({ tenant, params }) {
      tenant.store.write((tx) => {
        const { project, row } = reportOf(tx, params);
        rotateUuid(tx, project, row.id);
      });
      return { said: "A new address. The old one no longer works." };
    },
  },
  delete: {
    verb: "deleteReport",
    act({ tenant, params }) {
      tenant.store.write((tx) => {
        const { project, row } = reportOf(tx, params);
        deleteReport(tx, project, row.id);
      });
      return {
        said: "The report is deleted; its page is gone.",
        to: pathOf("p", params["project"] ?? "", "reports"),
      };
    },
  },
};
