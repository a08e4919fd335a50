import { alertId, getAlertRow } from "../../../core/alerts/alert.ts";
import { earlierAlerts } from "../../../core/alerts/detail.ts";
import { whoDid } from "../../../core/alerts/holder.ts";
import { narrowestSilence } from "../../../core/alerts/narrowest.ts";
import { changeNote, noteWrite } from "../../../core/alerts/notes.ts";
import { titleOfAlert } from "../../../core/alerts/title.ts";
import { escalateNow } from "../../../core/alerts/verbs.ts";
import { CRITICAL } from "../../../core/quiet/decide.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { heartbeatRow } from "../../../in/heartbeats/rows.ts";
import { lookCookie } from "../cookies.ts";
import {
  type Form,
  type FormDone,
  type PageCall,
  pathOf,
  type Screen,
  type Section,
  type View,
} from "../screen.ts";
import { alertActionForms, thisAlert } from "../ui/alert-forms.ts";
import { STATE_CLASS, stillMatching } from "../ui/alert-pieces.ts";
import { CHOSEN, LIST } from "../ui/asked-alerts.ts";
import { area, keyed } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { levelBadge, levelKind } from "../ui/level.ts";
import { markedTitle } from "../ui/message.ts";
import { pagedWords } from "../ui/paged-words.ts";
import { nth } from "../ui/pieces.ts";
import { wouldWords } from "../ui/silence-would.ts";
import { ago, clockTime, since } from "../ui/times.ts";
import { way } from "../ui/way.ts";
import { aboutSection, labelsShown } from "./about.ts";
import { mainAction, moreActions } from "./actions.ts";
import { history } from "./history.ts";
import { ladderSection } from "./ladder.ts";
import { linesSection } from "./lines.ts";
import { nowStrip } from "./now.ts";
import { occurrences } from "./occurrences.ts";
import { related } from "./related.ts";
import { runActionAgain, runbook } from "./runbook.ts";
import { readShownAlert, type ShownAlert } from "./shown-alert.ts";

/** One alert: what broke, who knows, what comes next, and what is done about it. */
export const alertScreen: Screen = {
  path: "/a/{alert}",
  view(call): View {
    const shown = readShownAlert(call);
    const { row } = shown;
    const own = [`alert:${row.id}`];
    const more = [...own, "oncall:*"];
    const section = (watches: string[], draw: Section["draw"]): Section => ({ watches, draw });
    return {
      title: `#${row.id} ${titleOfAlert(row)}`.slice(0, 80),
      heading: null,
      nav: "alerts",
      script: "neighbours",
      ...(call.look.isWide && { beside: { at: listBeside(call, row.id), as: "list" as const } }),
      sections: {
        head: section(own, () => alertHead(call, shown)),
        now: section(more, () => nowStrip(call, shown)),
        asked: section([], () => stillMatching(call, `/a/${row.id}`)),
        ladder: section(more, () => ladderSection(call, shown)),
        occurrences: {
          ...section(own, () => occurrences(call, shown)),
          ...(row.state !== "resolved" && {
            attributes: html`class="of-${levelKind(row.level)}"`,
          }),
        },
        about: section(own, () => aboutSection(shown)),
        lines: section(own, () => linesSection(call, shown)),
        runbook: section(own, () => runbook(call, shown)),
        related: section([...own, "alerts"], () => related(call, shown)),
        note: section([], () => noteForm(call, row.id)),
        timeline: section(own, () => history(call, shown)),
        actions: {
          ...section(own, () => mainAction(call, shown)),
          attributes: html`class="actions"`,
        },
        more: {
          ...section([...more, "reports"], () => moreActions(call, shown)),
          attributes: html`class="more" popover`,
        },
        // It stands in the menu that asks for it.
        would: section([], () => silenceWould(call, shown)),
      },
      body: (put) => html`${put("head")}${put("now")}${put("asked")}
<div class="columns">${put("ladder")}${put("occurrences")}</div>
${put("about")}${put("lines")}${put("runbook")}${put("related")}${put("note")}${put("timeline")}
<nav id="neighbours" class="neighbours" aria-label="The list it was opened from"></nav>
<div class="act">${put("actions")}${put("more")}</div>`,
    };
  },
  forms: {
    ...alertActionForms(thisAlert),
    escalate: { verb: "escalateAlert", act: escalate },
    order: { verb: "orderTimeline", reads: true, act: order },
    "silence/try": {
      verb: "previewSilence",
      reads: true,
      act: () => ({ said: "", shown: { silence: "tried" } }),
    },
    "actions/{action}/run": {
      verb: "runActionForAlert",
      act: runActionAgain,
    },
    "notes/{note}": noteChange("changeNote", (form) => form.get("text") ?? ""),
    "notes/{note}/delete": noteChange("deleteNote", () => null),
  },
};

/** The list that it was chosen in, which marks it. */
function listBeside({ query }: PageCall, id: number): string {
  const list = new URLSearchParams(query.get(LIST) ?? "");
  list.set(CHOSEN, String(id));
  return `/alerts?${list}`;
}

/** What a silence of this alert would take and would have kept back, once somebody asks. */
function silenceWould(call: PageCall, { row }: ShownAlert): Markup | Promise<Markup> {
  if (call.shown["silence"] !== "tried") return html``;
  const until = { ends_at: call.now + 3600, reason: "?" };
  const write = () => ({
    ...narrowestSilence(call.tenant.store, row, until),
    // As its form asks for it.
    critical: row.level >= CRITICAL,
  });
  return wouldWords(call, write, { inMenu: true });
}

function escalate(call: PageCall): FormDone {
  const { tenant, params, who } = call;
  const id = alertId(params["alert"] ?? "");
  tenant.store.write((tx) => escalateNow(tx, id, who.accountId));
  const { silenced_by } = getAlertRow(tenant.store, id);
  const did = silenced_by === null ? "has run" : "waits";
  return { said: `The next rung of #${id} ${did}${pagedWords(call, [String(id)])}` };
}

/** Which end of histories comes first: how this browser wants its pages, nothing of the alert. */
function order({ secure, params }: PageCall, form: URLSearchParams): FormDone {
  const value = form.get("timeline") === "oldest" ? "oldest" : "newest";
  return {
    said: value === "oldest" ? "Oldest first from now on." : "Newest first from now on.",
    to: `${pathOf("a", params["alert"] ?? "")}#timeline`,
    cookies: [lookCookie("timeline", value, secure)],
  };
}

/** A note's author changes it, or takes it back. */
function noteChange(verb: string, textOf: (form: URLSearchParams) => string | null): Form {
  return {
    verb,
    act({ tenant, params, who }, form) {
      const text = textOf(form);
      const to = text === null ? null : check(noteWrite, { text: text.trim() }, "body").text;
      const of = {
        alertId: alertId(params["alert"] ?? ""),
        noteId: params["note"] ?? "",
        accountId: who.accountId,
      };
      tenant.store.write((tx) => changeNote(tx, of, to));
      return { said: to === null ? "The note is taken back." : "The note is changed." };
    },
  };
}

/** Where a note is written. A section of its own, so that what is typed stands while all else changes. */
function noteForm(call: PageCall, id: number): Markup {
  const action = `/a/${id}/note`;
  const more = html`maxlength="4096"${keyed("n", "Note")}`;
  const hint = "Markdown, without images. You can change it for five minutes.";
  return html`<form class="form" method="post" action="${call.base}${action}">${area(call, action, { name: "text", label: "Note", rows: 2, required: true, hint, id: "note-text", more })}<button class="button second">Add the note</button></form>`;
}

/** Labels that stand below the title; all of them stand farther down. */
const PILLS = 4;

/** What broke, how bad, who has it, and whether it goes on. On its wash while it rings and nobody has it. */
function alertHead(call: PageCall, shown: ShownAlert): Markup {
  const { row, rule, quiet } = shown;
  const { project } = row;
  const isHot = row.state === "open" && quiet === null;
  const runbook = rule?.runbook_url ?? "";
  return html`<div class="hero of-${levelKind(row.level)}${isHot && " hero-hot"}"><p class="crumbs"><a class="icon-button" href="${call.base}/alerts" data-key="Escape" aria-label="Back to the alerts" title="Back to the list (Esc)">${icon("back")}</a><span class="place">${way(call, pathOf("p", project), project)} / ${way(call, pathOf("p", project, "rules", row.rule), row.rule)} · #${row.id}</span></p>
<p class="hero-kind">${levelBadge(row.level)} ${stateWords(call, shown)}</p>
<h1 class="message" dir="auto">${markedTitle(row)}</h1>
<p class="pills">${labelsShown(row)
    .slice(0, PILLS)
    .map(
      ([name, value]) => html`<span class="pill" dir="auto">${name} <b>${value}</b></span>`,
    )}${runbook !== "" && html`<a class="pill" href="${runbook}" rel="noopener noreferrer nofollow">${icon("book", "small")} Runbook</a>`}</p>
<p class="hero-count"><b>${row.count}×</b> <span class="soft">since ${clockTime(call, row.first_seen)}, last ${ago(call, row.last_seen)}${
    row.source !== null && row.source !== "" && `, from ${row.source}`
  }</span></p></div>
${heartbeatLine(call, shown)}${row.drill !== 0 && html`<p class="notice">This is a drill: nothing is wrong.</p>`}${quietBefore(call, shown)}${againLine(call, shown)}`;
}

/** The job that is missing, where a heartbeat's alert is named by it. */
function heartbeatLine(call: PageCall, { row: { dedup_key } }: ShownAlert): Piece {
  const beat = dedup_key === null ? null : heartbeatRow(call.tenant.store, dedup_key);
  if (beat === null) return false;
  return html`<p>Heartbeat: <a href="${call.base}/heartbeats/${beat.id}">${beat.name}</a></p>`;
}

/** `Open · 4 min`, or who has it since when. */
function stateWords(call: PageCall, { row }: Pick<ShownAlert, "row">): Markup {
  const { state } = row;
  const by = state === "open" ? null : whoDid(call.tenant.store, row.id, state);
  const words: Record<typeof state, () => Markup> = {
    open: () => html`Open for ${since(call, row.opened_at)}`,
    acknowledged: () =>
      html`${by ?? "Somebody"} has it since ${clockTime(call, row.acked_at ?? call.now)}${
        row.wakes_at !== null && html`, until ${clockTime(call, row.wakes_at)}`
      }`,
    resolved: () =>
      html`Resolved ${ago(call, row.resolved_at ?? call.now)}${by !== null && ` by ${by}`}`,
  };
  return html`<span class="state state-${STATE_CLASS[state]}">${words[state]()}</span>`;
}

/** When it was quiet last, of one that still stands: what was held back is told since. */
function quietBefore(call: PageCall, { row, quiet, entries }: ShownAlert): Piece {
  const over = entries.findLast(({ kind }) => kind === "silence_over");
  if (row.state !== "open" || quiet !== null || over === undefined) return false;
  const since = over.detail["since"];
  return html`<p class="soft">Quiet until ${clockTime(call, over.at)}${
    typeof since === "number" && html`, since ${clockTime(call, since)}`
  }; notified then.</p>`;
}

/** How often the same came in the past day. */
function againLine(call: PageCall, { row }: ShownAlert): Piece {
  const earlier = earlierAlerts(call.tenant.store, row);
  const today = earlier.filter(({ opened_at }) => opened_at > row.opened_at - 86_400).length;
  if (today === 0) return false;
  return html`<p class="warn">${nth(today + 1)} time within a day${earlier.length >= 20 && " at least"}.</p>`;
}
