import { version } from "../../../ground/kit/assets.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { LONG_TURN_MS } from "../../../ground/kit/turns.ts";
import { getMeta } from "../../../ground/store/meta.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import { type WallAnswer, wallWrite } from "../../../people/wall.ts";
import { listWalls, makeWall, revokeWall } from "../../../people/walls.ts";
import type { Health } from "../../../tenant/health.ts";
import type { BackupService, TenantHost } from "../../../tenant/host.ts";
import { WALL } from "../../http/resources/walls.ts";
import type { Form, PageCall, Screen, View } from "../screen.ts";
import { wholeText } from "../ui/config-text.ts";
import { commandLine } from "../ui/finding.ts";
import { button, field, keyed, tick } from "../ui/form.ts";
import { type IconName, icon } from "../ui/icon.ts";
import { type PeopleNames, peopleNames } from "../ui/people-names.ts";
import { bytesText } from "../ui/pieces.ts";
import { hourPlot } from "../ui/plot.ts";
import { ago, clockTime, span } from "../ui/times.ts";
import { doctorSection } from "./doctor.ts";
import { ownFindings } from "./own-findings.ts";
import { findingsSection, readiness, saidOnce } from "./readiness.ts";
import { relayForms, relaySection } from "./relay.ts";

const MAKE = "/system/walls";

/** Screens in corridors: the links that they show the wall by. */
function wallsSection(call: PageCall): Markup {
  const all = listWalls(call.tenant.store);
  const { wall: link } = call.shown;
  const names = peopleNames(call.tenant.store);
  return html`<h2>Wall</h2>
<p>Open alerts and who is on call, in large letters, for a screen on the wall. When signed in, you see it at <a href="${call.base}${WALL}">${WALL}</a>; a screen shows it by a link of its own.</p>
${link !== undefined && html`<div class="notice notice-good"><p>Open this on the screen, and keep it like a password: it is shown this once, and whoever has it sees the wall.</p><pre class="code" id="wall-link">${link}</pre><button type="button" class="button second" data-copy="wall-link">Copy</button></div>`}
${all.length > 0 && html`<div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">Screen</th><th scope="col">Shows</th><th scope="col">Made</th><th scope="col">Last seen</th><th scope="col"><span class="hidden-text">Revoke</span></th></tr></thead><tbody>${all.map((wall) => wallRow(call, wall, names))}</tbody></table></div>`}
<details id="add-wall"${call.returned?.action === MAKE && html` open`}><summary>A link for a screen</summary>
<form class="form" method="post" action="${call.base}${MAKE}">
${field(call, MAKE, { name: "name", label: "Which screen", required: true, autocomplete: "off", hint: "“Corridor, 2nd floor”." })}
${tick(call, MAKE, { name: "without", value: "messages", words: "Without messages and identifiers: projects and rules alone" })}
<p class="form-foot"><button class="button second">Make a link</button></p></form></details>`;
}

function wallRow(call: PageCall, wall: WallAnswer, names: PeopleNames) {
  const { id, name, messages, created_at, created_by, last_seen_at } = wall;
  const maker = created_by === null ? "somebody who was removed" : names(created_by);
  return html`<tr><td data-label="Screen">${name}</td><td data-label="Shows">${messages ? "messages" : "no messages"}</td>
<td data-label="Made">${ago(call, created_at)} by ${maker}</td><td data-label="Last seen">${last_seen_at === null ? "never" : ago(call, last_seen_at)}</td>
<td>${button(call, { action: `${MAKE}/${id}/revoke`, name: "Revoke", kind: "plain", label: `Revoke: ${name}` })}</td></tr>
`;
}

const wallForms: Readonly<Record<string, Form>> = {
  walls: {
    verb: "makeWall",
    act({ tenant, who, origin }, form) {
      mustManage(who.role);
      const wish = { name: (form.get("name") ?? "").trim(), messages: !form.has("without") };
      const write = check(wallWrite, wish, "body");
      const { secret } = tenant.store.write((tx) => makeWall(tx, who.accountId, write));
      return {
        said: `A link for ${write.name}. It is shown only once.`,
        shown: { wall: `${tenant.publicUrl || origin}${WALL}/${secret}` },
      };
    },
  },
  "walls/{wall}/revoke": {
    verb: "revokeWall",
    act({ tenant, who, params }) {
      mustManage(who.role);
      tenant.store.write((tx) => revokeWall(tx, params["wall"] ?? ""));
      return { said: "Revoked: its screen says so within seconds." };
    },
  },
};

/** What lies there: when each was made and proved. None can be fetched from here. */
function backupsSection(call: PageCall): Markup {
  const { host, store } = call.tenant;
  const last = getMeta(store, "last_backup");
  const proved =
    last === undefined
      ? html`<span class="warn">No backup was checked yet.</span>`
      : html`The last one was checked ${ago(call, Number(last))}.`;
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

const backupNow: Form = {
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

const lookAgain: Form = {
  verb: "runDoctor",
  auditAlways: true,
  act({ tenant, who }) {
    mustManage(who.role);
    tenant.host?.doctor.look();
    return { said: "The doctor is looking again. Its findings appear here." };
  },
};

const WATCHED = ["system", "oncall", "oncall:*", "people", "channels:*", "heartbeats", "projects"];

/** How the box is: what is wrong first, and what to do about it. Who doesn't manage sees the findings. */
export const systemScreen: Screen = {
  path: "/system",
  view(call) {
    const { status, checks } = call.system.health();
    const { host } = call.tenant;
    return {
      title: "System",
      nav: "system",
      sections: {
        standing: { watches: ["system"], draw: () => standing(call, status) },
        findings: {
          watches: WATCHED,
          draw: async () =>
            findingsSection(saidOnce(readiness(call, checks), await ownFindings(call))),
        },
        pages: () => (isManager(call.who.role) ? ownPages(call) : html``),
        doctor: { watches: ["system"], draw: () => doctorSection(call) },
        ...(host !== null && isManager(call.who.role) ? ofManagers(call, host) : {}),
      },
    };
  },
  files: {
    async "box.yaml"(call) {
      mustManage(call.who.role);
      const body = await wholeText(call.tenant);
      return { name: "box.yaml", type: "application/yaml; charset=utf-8", body };
    },
  },
  forms: { doctor: lookAgain, backup: backupNow, ...relayForms, ...wallForms },
};

function ofManagers(call: PageCall, host: TenantHost): View["sections"] {
  return {
    backups: { watches: ["system"], draw: () => backupsSection(call) },
    relay: { watches: ["system"], draw: () => relaySection(call) },
    walls: { watches: ["system"], draw: () => wallsSection(call) },
    load: { watches: ["alerts", "lines:*"], draw: () => loadSection(host) },
    keeping: () => keepingSection(call, host),
    machine: machineSection,
    text: () =>
      html`<p><a href="${call.base}/system/box.yaml" download>All projects, gateways and the fallback as one text</a> <span class="soft">as box config export prints it; several projects are applied by ${commandLine("apply-text", "box config apply box.yaml")}</span></p>`,
  };
}

const STANDING = {
  ok: ["good", "proof", "Able to page."],
  degraded: ["warn", "warn", "Able to page, but something is wrong."],
  failed: ["wrong", "close", "Not able to page."],
} as const;

function standing(call: PageCall, status: Health["status"]): Markup {
  const [look, sign, words] = STANDING[status];
  const { host } = call.tenant;
  const findings = host?.doctor.latest()?.findings ?? [];
  const wrong = findings.filter(({ state }) => state === "wrong");
  const found =
    wrong.length > 0 &&
    html`<p class="wrong">✕ The doctor found what is wrong: ${wrong.map(({ check }) => check).join(", ")}.</p>`;
  return html`<div class="notice notice-${look} verdict"><span class="${look}">${icon(sign, "large")}</span><div><p><strong>${words}</strong></p>${found}<p class="small soft">Version ${version}${host !== null && html`, ${upFor(call, host)}`}.</p></div></div>`;
}

/** What has a page of its own; all but the audit is for owners. */
function ownPages({ base, who }: PageCall): Markup {
  const row = (path: string, sign: IconName, name: string, words: string, key?: string) =>
    html`<li><a href="${base}${path}"${keyed(key, name)}>${icon(sign)}<span><b>${name}</b><br><span class="small soft">${words}</span></span>${icon("next", "small")}</a></li>`;
  return html`<ul class="list list-card">${
    who.role === "owner" && [
      row(
        "/system/gateways",
        "send",
        "Gateways",
        "the mail server, bots and services that reach people",
      ),
      row("/system/sign-in", "lock", "Signing in", "providers, and whether passwords may be used"),
      row("/system/look", "edit", "Look", "what these pages are made of"),
    ]
  }${row("/audit", "book", "Audit", "who changed what, and who signed in", "g l")}</ul>`;
}

/** What the box has to do now. */
function loadSection({ load }: TenantHost): Markup {
  const { minutes, commitMs, longestTurn, waiting, oldestSeconds, streams, refused, shed } = load();
  // The present minute goes on: the one before is whole.
  const lately = (minutes.at(-2) ?? 0) / 60;
  const rate = lately >= 10 ? Math.round(lately) : Math.round(lately * 10) / 10;
  return html`<h2>Load</h2><dl class="facts">
<div><dt>Events</dt><dd>${rate} a second <span class="soft">in the last whole minute</span> · the hour: ${hourPlot(minutes)}</dd></div>
<div><dt>A commit takes</dt><dd>${commitMs === null ? "none yet" : html`${Math.round(commitMs * 10) / 10} ms <span class="soft">at most, of 99 in a hundred</span>`}</dd></div>
<div><dt>Longest pause of the last hour</dt><dd>${longestTurn === null ? html`under ${LONG_TURN_MS} ms` : html`${Math.round(longestTurn.ms)} ms <span class="soft">in ${longestTurn.work}</span>`}</dd></div>
<div><dt>Waiting to go out</dt><dd>${waiting}${oldestSeconds !== null && html`, the oldest for ${span(oldestSeconds)}`}</dd></div>
<div><dt>Open pages and readers</dt><dd>${streams}</dd></div>
<div><dt>Refused for the moment (429)</dt><dd>${refused} <span class="soft">since the start</span>${shed > 0 && html`, <span class="warn">${shed} events could not be accepted</span>`}</dd></div>
</dl>`;
}

const DAY = 86_400;

/** What is set, and what is there of it. */
function keepingSection(call: PageCall, { keeping, held }: TenantHost): Markup {
  const { logDays, logBytes, historyDays } = keeping;
  const { oldestLine, oldestEntry, bytes, storeBytes } = held();
  const reaches = (at: number | null) =>
    at === null ? "nothing is there" : `now ${Math.round(((call.now - at) / DAY) * 10) / 10} days`;
  return html`<h2>Keeping</h2><div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">what</th><th scope="col">kept for</th><th scope="col">there is</th><th scope="col">set by</th></tr></thead><tbody>
<tr><td data-label="what">Lines</td><td data-label="kept for">${logDays} days, or until the store has ${bytesText(logBytes)}</td><td data-label="there is">${reaches(oldestLine)}, ${bytesText(bytes)} in all</td><td class="mono small" data-label="set by">--log-days, --log-gib</td></tr>
<tr><td data-label="what">Resolved alerts and what was sent</td><td data-label="kept for">${historyDays} days</td><td data-label="there is">${bytesText(storeBytes)} is the file</td><td class="mono small" data-label="set by">--history-days</td></tr>
<tr><td data-label="what">Who changed what</td><td data-label="kept for">400 days</td><td data-label="there is">${reaches(oldestEntry)}</td><td class="soft small" data-label="set by">fixed</td></tr>
</tbody></table></div>`;
}

/** What this page doesn't do: whoever may, has the machine. */
function machineSection(): Markup {
  const commands = [
    ["Change flags", "systemctl edit box"],
    ["Restart", "systemctl restart box"],
    ["Put back a backup", "box restore FILE --replace"],
    ["Look at everything", "box doctor"],
    ["Somebody can't get in", "box account set-password EMAIL"],
  ] as const;
  return html`<details id="on-machine"><summary>What is done on the machine</summary><dl class="facts">${commands.map(
    ([what, command], i) =>
      html`<div><dt>${what}</dt><dd>${commandLine(`machine-${i}`, command)}</dd></div>
`,
  )}</dl></details>`;
}

/** "up 12 days". */
function upFor(call: PageCall, { startedAt }: TenantHost): Markup {
  return html`started ${ago(call, startedAt)}`;
}
