import { createHash } from "node:crypto";
import { findProject } from "../../../core/projects/projects.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { mustManage } from "../../../people/roles.ts";
import { type Applied, applyConfig } from "../../../records/config-file/apply.ts";
import { readConfig } from "../../../records/config-file/read.ts";
import { tryConfig } from "../../../records/config-file/try.ts";
import { guardOf } from "../../../tenant/channel-verbs.ts";
import { PING } from "../../http/ping.ts";
import { type Form, type FormDone, type PageCall, pathOf } from "../screen.ts";
import { readProjectText } from "../ui/config-text.ts";
import { counted } from "../ui/pieces.ts";

/** What a text would change, as it is shown until it is applied. */
export interface ShownPlan {
  /** Of the project when it was planned: applying it to any other is refused. */
  version: number;
  changes: Applied["changes"];
  ladders_end: Applied["ladders_end"];
  /** Lines that differ, `-`, `+` and ` `. */
  diff: string[];
  /** Of the text, so that just this one is applied. */
  digest: string;
}

/** What applying made, and is shown this once. */
export interface MadeByText {
  what: string;
  secret: string;
}

export const textDigest = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 22);

/** Browsers send lines with CRLF. */
const textIn = (form: URLSearchParams): string => (form.get("text") ?? "").replaceAll("\r\n", "\n");

async function wanted({ tenant, params, who }: PageCall, text: string) {
  const { project: name = "" } = params;
  const { config, placed } = await readProjectText(text, name);
  const options = { name, config, tenantId: tenant.id, guard: guardOf(tenant), by: who.accountId };
  /** Faults that the box finds stand at their lines. */
  const run = <T>(what: () => T): T => {
    try {
      return what();
    } catch (error) {
      throw error instanceof ServiceError ? placed(error) : error;
    }
  };
  return { options, run };
}

async function plan(call: PageCall, form: URLSearchParams): Promise<FormDone> {
  mustManage(call.who.role);
  const { tenant } = call;
  const text = textIn(form);
  const { options, run } = await wanted(call, text);
  const project = findProject(tenant.store, options.name);
  if (project === null) throw new ServiceError("not_found", "There is no such project.");
  const { version } = project;
  const before = readConfig(tenant.store, project, tenant.channels);
  const tried = run(() => tryConfig(tenant.store, { ...options, version }));
  const { projectDiff } = await import("../../../records/config-file/document.ts");
  const shown: ShownPlan = {
    version,
    changes: tried.changes,
    digest: textDigest(text),
    ladders_end: tried.ladders_end,
    diff: projectDiff(options.name, before, tried.config),
  };
  return { said: "", shown: { plan: JSON.stringify(shown), text } };
}

async function apply(call: PageCall, form: URLSearchParams): Promise<FormDone> {
  mustManage(call.who.role);
  const { tenant, params } = call;
  const text = textIn(form);
  if (form.get("digest") !== textDigest(text))
    throw new ServiceError(
      "version_conflict",
      "The text isn't the one that was planned: plan it again.",
    );
  const { options, run } = await wanted(call, text);
  const version = Number(form.get("version"));
  if (!form.has("delete") || !form.has("ladders")) {
    const { changes, ladders_end } = run(() => tryConfig(tenant.store, { ...options, version }));
    const gone = changes.filter(({ change }) => change === "delete");
    if (gone.length > 0 && !form.has("delete")) return asksToDelete(await plan(call, form), gone);
    if (ladders_end.length > 0 && !form.has("ladders"))
      return { ...(await plan(call, form)), said: ENDS_LADDERS };
  }
  const done = run(() => tenant.store.write((tx) => applyConfig(tx, { ...options, version })));
  const made = madeBy(done, tenant.publicUrl || call.origin);
  const at = pathOf("p", params["project"] ?? "", "config");
  return {
    said: `Applied: ${counted(done.changes.length, "change")}.`,
    ...(made.length > 0 ? { shown: { made: JSON.stringify(made) } } : { to: at }),
  };
}

const ENDS_LADDERS =
  "Nothing is applied yet: nobody further would be paged of alerts that are open. Tick that it may, and apply it again.";

/** What goes is lost: it is said once more, and the plan stays. */
function asksToDelete(planned: FormDone, gone: Applied["changes"]): FormDone {
  const names = gone.map(({ kind, name }) => `${kind} ${name}`).join(", ");
  return {
    ...planned,
    said: `Nothing is applied yet: it would delete ${names}. Tick that it may, and apply it again.`,
  };
}

function madeBy({ tokens, secrets, heartbeats }: Applied, base: string): MadeByText[] {
  return [
    ...tokens.map(({ name, token }) => ({ what: `source ${name}`, secret: token })),
    ...heartbeats.map(({ name, secret }) => ({
      what: `heartbeat ${name}`,
      secret: `${base}${PING}/${secret}`,
    })),
    ...secrets.map(({ name, url, secret }) => ({ what: `webhook ${name || url}`, secret })),
  ];
}

export const configForms: Readonly<Record<string, Form>> = {
  "": { verb: "putProjectConfig", act: apply },
  plan: { verb: "putProjectConfig", reads: true, act: plan },
};
