import { getProject } from "../../../core/projects/projects.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { connectBody } from "../../../in/connect/connection.ts";
import { connectSender } from "../../../tenant/connect-sender.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { field, select, tick } from "../ui/form.ts";
import { heardSection } from "../ui/heard.ts";
import { levelChoices, orWorse } from "../ui/level.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { type KindCard, kindCards } from "../ui/source-kinds.ts";
import { setUpNotice, shownSetUp } from "./set-up.ts";

/** Connecting what one has: a card for each kind of sender, then its text to paste, and what is heard of it. */
export const connectScreen: Screen = {
  path: "/p/{project}/connect",
  view(call) {
    const { name } = getProject(call.tenant.store, call.params["project"] ?? "");
    const cards = kindCards(call.origin);
    const chosen = cards.find(({ kind }) => kind === call.query.get("kind"));
    return {
      title: `${name} · Connect what you have`,
      nav: "projects",
      sections: {
        tabs: () => projectTabs(call, name, "sources"),
        "set-up": () => setUpNotice(call),
        heard: heardSection(call, name),
        card: () => (chosen === undefined ? allCards(call, cards) : form(call, name, chosen)),
      },
    };
  },
  forms: {
    "": {
      verb: "connectSender",
      act(call, form) {
        const text = (name: string) => (form.get(name) ?? "").trim();
        const { kind, name, level } = check(
          connectBody,
          {
            kind: text("kind"),
            ...(text("name") === "" ? {} : { name: text("name") }),
            ...(text("level") === "" ? {} : { level: Number(text("level")) }),
          },
          "body",
        );
        const retainLogs = form.get("lines") === "kept";
        const project = call.params["project"] ?? "";
        const made = connectSender(call.tenant, call.origin, {
          project,
          kind,
          name,
          level,
          retainLogs,
        });
        const ruled =
          made.made_rule === null
            ? `Matched by ${made.rules.join(", ")}.`
            : `Rule ${made.made_rule} was made, since no rule would have matched it.`;
        return {
          said: `Source ${made.name} is made. ${ruled} Its token is shown only once.`,
          shown: shownSetUp(made, made.token, made.set_up),
        };
      },
    },
  },
};

function allCards({ base, params }: PageCall, cards: readonly KindCard[]): Markup {
  const at = pathOf("p", params["project"] ?? "", "connect");
  return html`<p>Each sender gets its own source and token. If no rule would take its events, the box makes one.</p>
<ul class="cards bare">${cards.map(
    ({
      kind,
      title,
      where,
    }) => html`<li class="card"><a href="${base}${at}?kind=${encodeURIComponent(kind)}">${title}</a>
<p class="soft small">Goes into ${where}</p></li>
`,
  )}</ul>`;
}

function form(call: PageCall, project: string, { kind, title, where, notes }: KindCard): Markup {
  const action = pathOf("p", project, "connect");
  return html`<h2>${title}</h2><p>Its text goes into ${where}.</p>
<form class="form" method="post" action="${call.base}${action}">
<input type="hidden" name="kind" value="${kind}">
${field(call, action, { name: "name", label: "Name of the source", hint: `Optional; ${kind} unless given.`, autocomplete: "off" })}
${select(call, action, { name: "level", label: "A rule that is made for it takes", value: "", choices: levelChoices("as usual for it", orWorse) })}
<p>${tick(call, action, { name: "lines", value: "kept", usual: true, words: "Keep its lines for a week, to look at them and to try rules on" })}</p>
<p class="form-foot"><button class="button">Make the source</button> <a href="${call.base}${action}">Another kind</a></p></form>
${notes.length > 0 && html`<h3>To know</h3><ul class="soft">${notes.map((note) => html`<li>${note}</li>`)}</ul>`}`;
}
