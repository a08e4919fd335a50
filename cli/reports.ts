import type { Command } from "commander";
import type { EntryAnswer, ReportAnswer } from "../src/records/reports/written.ts";
import { api, callApiText, path, v1 } from "./api.ts";
import { type ApiOptions, urlOf } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { readText } from "./files.ts";
import { namedInProject, nounCommands } from "./noun.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { printable, table, when } from "./table.ts";

export function registerReports(program: Command): void {
  const group = program.command("report").description("incident reports and their public pages");
  const report = nounCommands(group, namedInProject("report"));
  report.list<ReportAnswer>("list reports", listColumns, { none: "no reports" });
  apiFlags(group.command("create <project> <title>"), createFlags)
    .description("create a report; prints its id and the address of its page")
    .action(createReport);
  report.verb("show", "show a report and its entries, newest last", showReport);
  report.post(
    "draft",
    "print a draft of an entry from the alert's timeline, to edit; stores nothing",
    ({ content_md }: EntryAnswer) => content_md.trimEnd(),
    "/entries/draft",
  );
  const about = "add an entry from a Markdown file (or standard input)";
  report.verb("entry [file]", about, addEntry, entryFlags);
  report.verb("export", "print the whole report as Markdown", exportReport);
  report.post(
    "rotate",
    "give the page a new address; the old one stops working at once",
    ({ public_uuid }: ReportAnswer, options) => pageUrl(options, public_uuid),
    "/rotate-uuid",
  );
  report.delete("delete a report; its page is gone at once");
}

function pageUrl(options: ApiOptions, uuid: string): string {
  return urlOf(options) + path("public", "reports", uuid);
}

const listColumns = async (options: ApiOptions) => ({
  ID: ({ id }: ReportAnswer) => id,
  UPDATED: ({ updated_at }: ReportAnswer) => when(updated_at),
  PASSWORD: ({ password_protected }: ReportAnswer) => password_protected,
  TITLE: ({ title }: ReportAnswer) => title.slice(0, 60),
  PAGE: ({ public_uuid }: ReportAnswer) => pageUrl(options, public_uuid),
});

const createFlags = {
  "--description <text>": "what is known, in plain text",
  "--alert <id>": "its alert",
  "--password-file <file>": "readers need the password in this file (- = standard input)",
};

async function createReport(
  project: string,
  title: string,
  options: GivenBy<typeof createFlags>,
): Promise<void> {
  const { description, alert, passwordFile } = options;
  const password =
    passwordFile === undefined ? "" : (await readText(passwordFile)).replace(/\r?\n$/, "");
  if (passwordFile !== undefined && password === "")
    throw new CommandError(`${passwordFile}: there is no password in it`, exitCodes.usage);
  const answer = await api.post<{ id: string; public_uuid: string }>(
    options,
    v1("projects", project, "reports"),
    {
      title,
      ...(description === undefined ? {} : { description }),
      ...(alert === undefined ? {} : { alert_id: alert }),
      ...(password === "" ? {} : { view_password: password }),
    },
  );
  print(answer, options, () => `${answer.id}\n${pageUrl(options, answer.public_uuid)}`);
}

async function showReport(place: string, options: ApiOptions): Promise<void> {
  const answer = await api.get<{ report: ReportAnswer; entries: EntryAnswer[] }>(options, place);
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

const entryFlags = {
  "--title <title>": "its title",
  "--type <type>": { about: "update, analysis or resolution", usual: "update" },
};

async function addEntry(
  place: string,
  options: GivenBy<typeof entryFlags>,
  _named: string,
  file = "-",
): Promise<void> {
  const body = {
    content_md: await readText(file),
    entry_type: options.type,
    ...(options.title === undefined ? {} : { title: options.title }),
  };
  const answer = await api.post<{ id: string }>(options, `${place}/entries`, body);
  print(answer, options, () => answer.id);
}

async function exportReport(place: string, options: ApiOptions): Promise<void> {
  const markdown = await callApiText(options, "GET", `${place}/export.md`);
  print({ markdown }, options, () => markdown.trimEnd());
}
