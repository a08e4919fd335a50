import { createRule, replaceRule } from "../../../core/alerts/rules.ts";
import { getProject } from "../../../core/projects/projects.ts";
import {
  bodyOfRule,
  type RuleBody,
  ruleCreate,
  type StoredRule,
} from "../../../core/projects/rule.ts";
import { getRule } from "../../../core/projects/rules.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { dryRunWrite } from "../../../in/ingest/dry-run/dry-run.ts";
import { withIds } from "../../../people/named.ts";
import { deleteSaying } from "../../../records/config-file/ladders-end.ts";
import { runTrial } from "../../../tenant/rule-trial.ts";
import { type Form, type FormDone, type PageCall, pathOf } from "../screen.ts";
import { editedFields } from "../ui/edited-rows.ts";
import { ladderEndWords } from "../ui/ladder-now.ts";
import { counted } from "../ui/pieces.ts";
import { textDigest } from "../ui/plain.ts";
import { fieldsOfRule } from "./fields.ts";
import { isRuleGone, ruleGone } from "./gone.ts";
import { bodyOfFields } from "./read-fields.ts";
import { tryLadder } from "./try-ladder.ts";

const projectOf = ({ params }: PageCall): string => params["project"] ?? "";

/** What a rule's page can do beside saving. */
const trying: Readonly<Record<string, Form>> = {
  try: { verb: "tryRule", reads: true, act: tryIt },
  edit: { verb: "editRule", reads: true, act: edit },
};

/** Of the page of a new rule. */
export const newRuleForms: Readonly<Record<string, Form>> = {
  ...trying,
  "": {
    verb: "createRule",
    act(call, form) {
      const { name, ...body } = ruleOfForm(call, form);
      const project = projectOf(call);
      call.tenant.store.write((tx) => createRule(tx, getProject(tx, project), { name, body }));
      return {
        said: `The rule ${name} is saved. It counts from now on.`,
        to: pathOf("p", project, "rules", name),
      };
    },
  },
};

/** Of the page of a saved one. */
export const savedRuleForms: Readonly<Record<string, Form>> = {
  ...trying,
  "": { verb: "replaceRule", act: save },
  delete: {
    verb: "deleteRule",
    act: remove,
  },
};

function remove(call: PageCall, form: URLSearchParams): FormDone {
  const { rule: name = "" } = call.params;
  const at = pathOf("p", projectOf(call), "rules");
  const unlessEnds = !form.has("ladders");
  const ends = call.tenant.store.write((tx) =>
    deleteSaying(tx, getProject(tx, projectOf(call)), name, { unlessEnds }),
  );
  const words = ends.map(ladderEndWords);
  if (unlessEnds && ends.length > 0)
    return {
      said: [...words, "Nothing is deleted yet: tick that it may, and delete it again."].join(" "),
      to: `${at}${pathOf(name)}`,
    };
  const said = [`The rule ${name} is deleted. Alerts that it opened stay.`, ...words];
  return { said: said.join(" "), to: at };
}

/** What a form says, as the interface would take it. Throws 400 with what is wrong at which field. */
function ruleOfForm(
  { tenant }: Pick<PageCall, "tenant">,
  form: URLSearchParams,
): RuleBody & { name: string } {
  const body = withIds(tenant.store, bodyOfFields(form), ["escalations.*.accounts.*"]);
  return check(ruleCreate, body, "body");
}

/** Tells whether a rule is still the one that was read. */
export function digestOf(rule: StoredRule): string {
  const text = JSON.stringify([rule.name, bodyOfRule(rule)]);
  return textDigest(text);
}

function save(call: PageCall, form: URLSearchParams): FormDone {
  const { rule: name = "" } = call.params;
  const { name: written, ...body } = ruleOfForm(call, form);
  if (written !== name)
    throw new ServiceError("name_mismatch", "A rule's name can't be changed: copy it.", {
      details: [{ field: "/name", reason: "differs from the saved rule's" }],
    });
  if (isRuleGone(call, projectOf(call), name))
    throw new ServiceError(
      "version_conflict",
      `${ruleGone(call, projectOf(call), name)} Yours is in the form: save again to make it anew.`,
    );
  const isNew = call.tenant.store.write((tx) => {
    const project = getProject(tx, projectOf(call));
    const before = getRule(tx, project.id, name);
    if (digestOf(before) !== form.get("read"))
      throw new ServiceError(
        "version_conflict",
        "Somebody changed this rule meanwhile. Yours is in the form, theirs beside it: save again to put yours in its place.",
      );
    return digestOf(replaceRule(tx, project, { name, body })) !== digestOf(before);
  });
  return {
    said: isNew ? "Saved. It counts anew from now on." : "Nothing was changed.",
    to: pathOf("p", projectOf(call), "rules", name),
  };
}

/** Rows added and taken away, and the form as JSON and back. Nothing is stored. */
function edit(call: PageCall, form: URLSearchParams): FormDone {
  const does = form.get("do") ?? "";
  return {
    said: "",
    shown: { draft: (turned(call, form, does) ?? editedFields(form)).toString() },
  };
}

/** What isn't the rule's own goes with it either way. */
const BESIDE = ["read", "days", "lines"];

function turned(call: PageCall, form: URLSearchParams, does: string): URLSearchParams | null {
  if (does !== "as-json" && does !== "as-form") return null;
  const rule = ruleOfForm(call, form);
  const fields =
    does === "as-json"
      ? new URLSearchParams({ json: JSON.stringify(rule, null, 2) })
      : fieldsOfRule(rule);
  for (const name of BESIDE) if (form.has(name)) fields.set(name, form.get(name) ?? "");
  return fields;
}

async function tryIt(call: PageCall, form: URLSearchParams): Promise<FormDone> {
  const lines = (form.get("lines") ?? "").split(/\r?\n/).filter((line) => line.trim() !== "");
  const { rule: name } = call.params;
  const rule = ruleOfForm(call, namedForm(form));
  const asked = {
    rule,
    days: Number(form.get("days") ?? "7"),
    ...(name === undefined || isRuleGone(call, projectOf(call), name) ? {} : { versus: name }),
    ...(lines.length === 0 ? { weeks: true } : { lines }),
  };
  const tried = await runTrial(call.tenant, projectOf(call), check(dryRunWrite, asked, "body"));
  return {
    said: `Tried on ${counted(tried.scanned.lines, "line")}. Nothing is saved.`,
    shown: {
      draft: form.toString(),
      tried: JSON.stringify(tried),
      ladder: JSON.stringify(await tryLadder(call, rule)),
    },
  };
}

/** A rule can be tried before it has a name. */
function namedForm(form: URLSearchParams): URLSearchParams {
  if (form.has("json") || (form.get("name") ?? "").trim() !== "") return form;
  const named = new URLSearchParams(form);
  named.set("name", "new rule");
  return named;
}
