import type { Command } from "commander";
import type { EntryAnswer, ReportAnswer } from "../src/records/reports/written.ts";
import { callApi, callApiText, namedId, path } from "./api.ts";
import { type ApiOptions, urlOf } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { readText } from "./files.ts";
import { apiFlags, print } from "./options.ts";
import { printable, table, when } from "./table.ts";

export function registerReports(program: Command): void {
  const report = program.command("report").description("incident reports and their public pages");
  apiFlags(report.command("list <project>")).description("list reports").action(listReports);
  apiFlags(report.command("create <project> <title>"))
    .description("create a report; prints its id and the address of its page")
    .option("--description <text>", "what is known, in plain text")
    .option("--alert <id>", "its alert")
    .option("--password-file <file>", "readers need the password in this file (- = standard input)")
    .action(createReport);
  apiFlags(report.command("show <project> <report>"))
    .description("show a report and its entries, newest last")
    .action(showReport);
  apiFlags(report.command("draft <project> <report>"))
    .description("print a draft of an entry from the alert's history, to edit; stores nothing")
    .action(draftEntry);
  apiFlags(report.command("entry <project> <report> [file]"))
    .description("add an entry from a Markdown file (or standard input)")
    .option("--title <title>", "its title")
    .option("--type <type>", "update, analysis or resolution", "update")
    .action(addEntry);
  apiFlags(report.command("export <project> <report>"))
    .description("print the whole report as Markdown")
    .action(exportReport);
  apiFlags(report.command("rotate <project> <report>"))
    .description("give the page a new address; the old one stops working at once")
    .action(rotateUuid);
  apiFlags(report.command("delete <project> <report>"))
    .description("delete a report; its page is gone at once")
    .action(deleteReport);
}

function reportPath(project: string, ...rest: string[]): string {
  return path("v1", "projects", project, "reports", ...rest);
}

/** The path of a report, by its title or id. */
async function placeOf(options: ApiOptions, project: string, named: string): Promise<string> {
  return reportPath(project, await namedId(options, { kind: "report", project }, named));
}

function pageUrl(options: ApiOptions, uuid: string): string {
  return urlOf(options) + path("public", "reports", uuid);
}

async function listReports(project: string, options: ApiOptions): Promise<void> {
  const answer = await callApi<{ reports: ReportAnswer[] }>(options, "GET", reportPath(project));
  const row = (each: ReportAnswer) => [
    each.id,
    when(each.updated_at),
    each.password_protected,
    each.title.slice(0, 60),
    pageUrl(options, each.public_uuid),
  ];
  const heads = ["ID", "UPDATED", "PASSWORD", "TITLE", "PAGE"];
  print(answer, options, () =>
    answer.reports.length === 0 ? "no reports" : table(heads, answer.reports.map(row)),
  );
}

interface CreateOptions extends ApiOptions {
  description?: string;
  alert?: string;
  passwordFile?: string;
}

async function createReport(project: string, title: string, options: CreateOptions): Promise<void> {
  const { description, alert, passwordFile } = options;
  const password =
    passwordFile === undefined ? "" : (await readText(passwordFile)).replace(/\r?\n$/, "");
  if (passwordFile !== undefined && password === "")
    throw new CommandError(`${passwordFile}: there is no password in it`, exitCodes.usage);
  const answer = await callApi<{ id: string; public_uuid: string }>(
    options,
    "POST",
    reportPath(project),
    {
      title,
      ...(description === undefined ? {} : { description }),
      ...(alert === undefined ? {} : { alert_id: alert }),
      ...(password === "" ? {} : { view_password: password }),
    },
  );
  print(answer, options, () => `${answer.id}\n${pageUrl(options, answer.public_uuid)}`);
}

async function showReport(project: string, id: string, options: ApiOptions): Promise<void> {
  const answer = await callApi<{ report: ReportAnswer; entries: EntryAnswer[] }>(
    options,
    "GET",
    await placeOf(options, project, id),
  );
  const { report, entries } = answer;
  const plain = () =>
    [
      `title        ${printable(report.title)}`,
      `description  ${printable(report.description)}`,
      `page         ${pageUrl(options, report.public_uuid)}`,
      `password     ${report.password_protected ? "yes" : "no"}`,
      `alert        ${report.alert_id || "none"}`,
      `updated      ${when(report.updated_at)}`,
      "",
      table(
        ["ENTRY", "WHEN", "TYPE", "TITLE", "BEGINS WITH"],
        entries.map((entry) => [
          entry.id,
          when(entry.created_at),
          entry.entry_type,
          entry.title,
          entry.content_md.trimStart().split("\n")[0]?.slice(0, 60) ?? "",
        ]),
      ),
    ].join("\n");
  print(answer, options, plain);
}

async function draftEntry(project: string, id: string, options: ApiOptions): Promise<void> {
  const answer = await callApi<EntryAnswer>(
    options,
    "POST",
    `${await placeOf(options, project, id)}/entries/draft`,
  );
  print(answer, options, () => answer.content_md.trimEnd());
}

interface EntryOptions extends ApiOptions {
  title?: string;
  type: string;
}

async function addEntry(
  project: string,
  id: string,
  file: string | undefined,
  options: EntryOptions,
): Promise<void> {
  const body = {
    content_md: await readText(file ?? "-"),
    entry_type: options.type,
    ...(options.title === undefined ? {} : { title: options.title }),
  };
  const to = `${await placeOf(options, project, id)}/entries`;
  const answer = await callApi<{ id: string }>(options, "POST", to, body);
  print(answer, options, () => answer.id);
}

async function exportReport(project: string, id: string, options: ApiOptions): Promise<void> {
  const from = `${await placeOf(options, project, id)}/export.md`;
  const markdown = await callApiText(options, "GET", from);
  print({ markdown }, options, () => markdown.trimEnd());
}

async function rotateUuid(project: string, id: string, options: ApiOptions): Promise<void> {
  const answer = await callApi<{ public_uuid: string }>(
    options,
    "POST",
    `${await placeOf(options, project, id)}/rotate-uuid`,
  );
  print(answer, options, () => pageUrl(options, answer.public_uuid));
}

async function deleteReport(project: string, id: string, options: ApiOptions): Promise<void> {
  const answer = await callApi<object>(options, "DELETE", await placeOf(options, project, id));
  print(answer, options, () => `deleted ${id}`);
}
