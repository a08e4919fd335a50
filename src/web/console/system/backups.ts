import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { getMeta } from "../../../ground/store/meta.ts";
import { mustManage } from "../../../people/roles.ts";
import type { BackupService } from "../../../tenant/host.ts";
import type { Form, PageCall } from "../screen.ts";
import { commandLine } from "../ui/finding.ts";
import { button } from "../ui/form.ts";
import { bytesText } from "../ui/pieces.ts";
import { ago, clockTime } from "../ui/times.ts";

/** What lies there: when each was made and proved. None can be fetched from here. */
export function backupsSection(call: PageCall): Markup {
  const { host, store } = call.tenant;
  const last = getMeta(store, "last_backup");
  const proved =
    last === undefined
      ? html`<span class="warn">None was ever proved.</span>`
      : html`The last one was proved ${ago(call, Number(last))}.`;
  const desk = host?.backups ?? null;
  if (desk === null)
    return html`<h2>Backups</h2><p>${proved} None is made by itself: the box was given no directory for them.</p>
<p>${commandLine("backup-flags", "box serve --backup-dir /mnt/other-disk/box-backups")}</p><p class="soft">Or one by hand: ${commandLine("backup-command", "box backup FILE")}</p>`;
  return html`<h2>Backups</h2><p>${proved} One is made every ${desk.hours} h, the last ${desk.keep} are kept.</p>
${desk.failure() !== null && html`<p class="wrong">The last try failed: ${desk.failure()}</p>`}
${made(call, desk)}
${button(call, {
  action: "/system/backup",
  name: "Back up now",
  kind: "second",
  ...(desk.isRunning() ? { why: "One is being made." } : {}),
})}
<p class="soft small">Each is a copy of everything, secrets sealed in it: it stays on the machine.</p>`;
}

function made(call: PageCall, desk: BackupService): Markup {
  const all = desk.list();
  if (all.length === 0) return html`<p class="soft">None lies there yet.</p>`;
  return html`<div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">made</th><th scope="col" class="num">size</th><th scope="col">proved</th><th scope="col">file</th></tr></thead><tbody>${all.map(
    ({ file, taken_at, proved_at, size }) =>
      html`<tr><td data-label="made">${clockTime(call, taken_at)}</td><td class="num" data-label="size">${bytesText(size)}</td><td data-label="proved"><span class="good">✓ ${clockTime(call, proved_at)}</span></td><td class="mono small" data-label="file">${file}</td></tr>
`,
  )}</tbody></table></div>`;
}

export const backupNow: Form = {
  verb: "makeBackup",
  auditAlways: true,
  act({ tenant, who }) {
    mustManage(who.role);
    const desk = tenant.host?.backups ?? null;
    if (desk === null)
      throw new ServiceError("backup_dir_missing", "The box was given no directory for backups.");
    desk.make();
    return { said: "A backup is being made and checked." };
  },
};
