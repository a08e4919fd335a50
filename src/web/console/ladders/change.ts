import { changeLadder, deleteLadder, previewLadder } from "../../../core/alerts/ladders.ts";
import type { LadderChange, LadderInput } from "../../../core/projects/ladder.ts";
import { getLadder, insertLadder } from "../../../core/projects/ladders.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { mustManage } from "../../../people/roles.ts";
import { type Form, type FormDone, type PageCall, pathOf } from "../screen.ts";
import { editedFields } from "../ui/edited-rows.ts";
import { counted } from "../ui/pieces.ts";
import { trying } from "../ui/trying.ts";
import { ladderDigest, ladderOfFields } from "./fields.ts";

/** Rows added and taken away, and what is asked of what was typed. Nothing is stored. */
export const editing = trying("previewLadder", editedFields);

/** Of the page of a new ladder. */
export const newLadderForms: Readonly<Record<string, Form>> = {
  edit: editing,
  "": {
    verb: "createLadder",
    act(call, form) {
      mustManage(call.who.role);
      const { name } = call.tenant.store.write((tx) => insertLadder(tx, ladderOfFields(form)));
      return {
        said: `The ladder ${name} is made. Rules use it once they name it.`,
        to: pathOf("ladders", name),
      };
    },
  },
};

/** Of the page of one that is there. */
export const ladderForms: Readonly<Record<string, Form>> = {
  edit: editing,
  "": { verb: "replaceLadder", act: save },
  delete: {
    verb: "deleteLadder",
    act(call) {
      mustManage(call.who.role);
      const { ladder: name = "" } = call.params;
      call.tenant.store.write((tx) => deleteLadder(tx, name));
      return { said: `The ladder ${name} is deleted.`, to: "/ladders" };
    },
  },
};

async function save(call: PageCall, form: URLSearchParams): Promise<FormDone> {
  mustManage(call.who.role);
  const { ladder: name = "" } = call.params;
  const { store } = call.tenant;
  const to = ladderOfFields(form);
  const change = await previewed(call, name, to);
  const isNew = store.write((tx) => {
    const before = getLadder(tx, name);
    if (ladderDigest(before) !== form.get("read"))
      throw new ServiceError(
        "version_conflict",
        "Somebody changed this ladder meanwhile. Yours is in the form, theirs above it: save again to put yours in its place.",
      );
    return ladderDigest(changeLadder(tx, { name, to })) !== ladderDigest(before);
  });
  const said = isNew ? `Saved. ${changeWords(change, "done")}` : "Nothing was changed.";
  return { said, to: pathOf("ladders", to.name) };
}

/** What a change would come to for open alerts, as things stand. Throws 404, 409, 422. */
export const previewed = (
  { tenant: { store, slices }, now }: PageCall,
  name: string,
  to: LadderInput,
): Promise<LadderChange> => slices.run(previewLadder(store, { name, to }, now));

/** "3 rules and 12 open alerts follow it. Paged at once: ann@example.org (2 alerts)." */
export function changeWords(
  { rules, open_alerts, pages }: LadderChange,
  when: "done" | "would",
): string {
  if (rules === 0) return "No rule names it yet.";
  const isDone = when === "done";
  const who = pages.map(({ email, alerts }) => `${email} (${counted(alerts, "alert")})`).join(", ");
  const paged = pages.length === 0 ? "nobody" : who;
  return `${counted(rules, "rule")} and ${counted(open_alerts, "open alert")} ${isDone ? "follow it" : "would follow it"}. Paged at once: ${paged}.`;
}
