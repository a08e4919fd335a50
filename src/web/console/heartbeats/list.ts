import { configVersions, getProject } from "../../../core/projects/projects.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { HeartbeatAnswer } from "../../../in/heartbeats/heartbeat.ts";
import { projectHeartbeats } from "../../../in/heartbeats/rows.ts";
import { listRuns } from "../../../in/heartbeats/runs.ts";
import { readHeartbeat } from "../../../tenant/heartbeat-verbs.ts";
import type { PageCall, Screen } from "../screen.ts";
import { button, keyed } from "../ui/form.ts";
import { counted, empty } from "../ui/pieces.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { runLegend, runRow } from "../ui/runs.ts";
import { ago, clockTime, span, until } from "../ui/times.ts";
import { heartbeatBadge, paceWords, stateOrder } from "./state.ts";

/** More are not drawn at once: a project's page has its own. */
const MOST = 200;
const RUNS = 30;
const WHAT = html`<p class="soft">A heartbeat is an address that a job calls each time it has run: when the call doesn’t come, an alert opens.</p>`;

interface Beat {
  project: string;
  beat: HeartbeatAnswer;
}

/** Jobs that must report, of all projects. */
export const heartbeatsScreen: Screen = {
  path: "/heartbeats",
  view(call) {
    const projects = configVersions(call.tenant.store);
    const all = projects.flatMap(({ project }) => beatsOf(call, project));
    return {
      title: "Heartbeats",
      nav: "heartbeats",
      sections: {
        head: () => newButton(call, ""),
        heartbeats: {
          watches: ["heartbeats", "projects"],
          turnsAt: nextLate(all),
          draw: () => list(call, all),
        },
      },
    };
  },
};

/** Those of one project, among its pages. */
export const projectHeartbeatsScreen: Screen = {
  path: "/p/{project}/heartbeats",
  view(call) {
    const { name } = getProject(call.tenant.store, call.params["project"] ?? "");
    const all = beatsOf(call, name);
    return {
      title: `${name} · Heartbeats`,
      heading: html`${name}`,
      nav: "projects",
      sections: {
        tabs: () => projectTabs(call, name, "heartbeats"),
        head: () => newButton(call, name),
        heartbeats: {
          watches: ["heartbeats", `project:${name}`],
          turnsAt: nextLate(all),
          draw: () => list(call, all),
        },
      },
    };
  },
};

function beatsOf({ tenant }: PageCall, project: string): Beat[] {
  const { id } = getProject(tenant.store, project);
  return projectHeartbeats(tenant.store, id).map((row) => ({
    project,
    beat: readHeartbeat(tenant, row),
  }));
}

/** When the next of them is late, Unix seconds: it was expected, and nothing happened. */
function nextLate(all: readonly Beat[]): number | null {
  const times = all.flatMap(({ beat }) => lateAt(beat) ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

/** When it is late unless it reports. */
export const lateAt = ({ state, expected_at }: HeartbeatAnswer): number | null =>
  state === "up" ? expected_at : null;

function newButton({ base }: PageCall, project: string): Markup {
  const query = project === "" ? "" : `?project=${encodeURIComponent(project)}`;
  return html`<p class="buttons"><a class="button" href="${base}/heartbeats/new${query}"${keyed("n", "New heartbeat")}>New heartbeat</a></p>`;
}

function list(call: PageCall, all: readonly Beat[]): Markup {
  if (all.length === 0)
    return empty(
      "No job has to report yet.",
      html`<p class="soft">A backup that fails sends an alert; one that doesn’t run sends nothing.</p>${WHAT}`,
    );
  const sorted = [...all].sort(
    (a, b) =>
      stateOrder(a.beat) - stateOrder(b.beat) || a.beat.name.localeCompare(b.beat.name, "en"),
  );
  return html`${WHAT}<p>${countWords(all)}</p><ul class="cards bare" data-list>${sorted.slice(0, MOST).map((one) => card(call, one))}</ul>${
    sorted.length > MOST &&
    html`<p class="soft">The first ${MOST} of ${sorted.length}: look at a project’s own.</p>`
  }<details id="shapes"><summary>What the shapes mean</summary>${runLegend}</details>`;
}

/** "1 down, 2 late, of 14 heartbeats." */
function countWords(all: readonly Beat[]): Markup {
  const n = (state: HeartbeatAnswer["state"]) =>
    all.filter(({ beat }) => beat.state === state).length;
  const [down, late] = [n("down"), n("late")];
  const bad = [down > 0 && `${down} down`, late > 0 && `${late} late`].filter(Boolean).join(", ");
  return bad === ""
    ? html`None of ${counted(all.length, "heartbeat")} is missing.`
    : html`<strong class="${down > 0 ? "wrong" : "warn"}">${bad}</strong>, of ${counted(all.length, "heartbeat")}.`;
}

function card(call: PageCall, { project, beat }: Beat): Markup {
  const { id, name } = beat;
  const runs = listRuns(call.tenant.store, id, RUNS);
  return html`<li class="card" id="beat-${id}" data-row><div class="card-head"><h2><a href="${call.base}/heartbeats/${id}">${name}</a></h2><span>${heartbeatBadge(beat)}</span></div>
<p><span class="soft">${project}</span> · ${paceWords(beat)}${lastWords(call, beat)}${nextWords(call, beat)}</p>
${beat.rule === null && html`<p class="wrong">No rule matches it: nobody is notified. <a href="${call.base}/heartbeats/${id}#own-ladder">Choose who is notified</a></p>`}<p>${runRow(call, runs)}</p>${pauseButton(call, beat)}</li>
`;
}

/** "last 03:12, took 11 min (4 min ago)". What counts stands at the end of its line: nothing moves by it. */
export function lastWords(call: PageCall, { last_at, last_duration }: HeartbeatAnswer): Piece {
  if (last_at === null) return html` · <span class="soft">never reported</span>`;
  return html`<br>
last ${clockTime(call, last_at)}${last_duration !== null && `, took ${span(last_duration)}`} (${ago(call, last_at)})`;
}

/** "next by 03:30, expected 03:00 (in 2:10)"; once it is late "expected 03:00, next by 03:30 (in 27:10)". */
export function nextWords(call: PageCall, { due_at, expected_at, state }: HeartbeatAnswer): Piece {
  if (due_at === null) return false;
  const what = state === "started" ? "to end" : "next";
  const by = html`${what} by ${clockTime(call, due_at)}`;
  const left = (at: number) => html`(in ${until(call, at)})`;
  if (expected_at === null || !(state === "up" || state === "late"))
    return html`<br>
${by} ${left(due_at)}`;
  const expected = html`expected ${clockTime(call, expected_at)}`;
  return html`<br>
${state === "up" ? html`${by}, ${expected} ${left(expected_at)}` : html`${expected}, ${by} ${left(due_at)}`}`;
}

export function pauseButton(call: PageCall, { id, state, name }: HeartbeatAnswer): Markup {
  const verb = state === "paused" ? "Resume" : "Pause";
  return button(call, {
    action: `/heartbeats/${id}/${verb.toLowerCase()}`,
    name: verb,
    kind: "second",
    label: `${verb} ${name}`,
  });
}
