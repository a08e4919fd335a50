import type { Command } from "commander";
import type { Backups } from "../src/tenant/host.ts";
import { api } from "./api.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { table, when } from "./table.ts";

export function registerBackups(program: Command): void {
  apiFlags(program.command("backups"), backupsFlags)
    .description("list the backups in the box's backup directory")
    .action(backups);
}

const backupsFlags = { "--now": "make one now" };

async function backups(options: GivenBy<typeof backupsFlags>): Promise<void> {
  if (options.now) {
    const begun = await api.post<{ running: boolean }>(options, "/v1/backups");
    print(begun, options, () => "one is being made: box backups shows it once it is proved");
    return;
  }
  const answer = await api.get<Backups>(options, "/v1/backups");
  print(answer, options, () => backupsText(answer));
}

function backupsText({ scheduled, last_backup, running, failure, backups: made }: Backups): string {
  const how =
    scheduled === null
      ? "none are scheduled: start the box with --backup-dir"
      : `one every ${scheduled.hours} h, the last ${scheduled.keep} are kept`;
  const last = last_backup === null ? "none was ever proved" : `last proved ${when(last_backup)}`;
  const rows = made.map((each) => [
    each.file,
    when(each.taken_at),
    when(each.proved_at),
    each.size,
  ]);
  return [
    `${how}; ${last}${running ? "; one is being made" : ""}`,
    ...(failure === null ? [] : [`the last try failed: ${failure}`]),
    table(["FILE", "TAKEN", "PROVED", "BYTES"], rows),
  ].join("\n");
}
