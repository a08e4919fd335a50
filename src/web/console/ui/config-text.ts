import { configVersions, getProject } from "../../../core/projects/projects.ts";
import { type ErrorDetail, ServiceError } from "../../../ground/kit/errors.ts";
import { listGateways } from "../../../out/contacts/gateways.ts";
import { readFallback } from "../../../out/contacts/notify.ts";
import { listAccounts } from "../../../people/accounts.ts";
import type { ConfigDocument, FileProject } from "../../../records/config-file/document.ts";
import { readConfig } from "../../../records/config-file/read.ts";
import { listThings, tenantThings } from "../../../records/config-file/tenant-nouns.ts";
import type { Tenant } from "../../../tenant/tenant.ts";

/** The file of `box config` as pages read and write it. Its code comes with the first page that wants it. */
const document = () => import("../../../records/config-file/document.ts");

/** A project as it is now, as its file has it: the same bytes as `box config export --project`. */
export async function projectText(tenant: Tenant, name: string): Promise<string> {
  const { printConfigFile } = await document();
  return printConfigFile([configOf(tenant, name)]);
}

/** All projects, and what is set of the whole box, as `box config export` prints them. */
export async function wholeText(tenant: Tenant): Promise<string> {
  const { printConfigFile } = await document();
  const { store } = tenant;
  const projects = configVersions(store).map(({ project }) => configOf(tenant, project));
  return printConfigFile(projects, {
    things: await listThings((noun) => tenantThings[noun].list(store)),
    gateways: listGateways(store, tenant),
    fallback: readFallback(store),
    accounts: listAccounts(store),
  });
}

function configOf({ store, channels }: Tenant, name: string): FileProject {
  return { name, config: readConfig(store, getProject(store, name), channels) };
}

/** Reads the text of one project. `placed` gives the faults that the box finds in it their lines. Throws 400 with a line for each fault. */
export async function readProjectText(text: string, project: string) {
  const { parseConfigFile, ConfigFileFault } = await document();
  let read: ConfigDocument;
  try {
    read = parseConfigFile(text, null);
  } catch (error) {
    if (!(error instanceof ConfigFileFault)) throw error;
    throw textFault(error.message.split("\n"));
  }
  const [only, ...more] = read.projects;
  if (read.people.length > 0)
    throw textFault(["/people is of the whole box: box config apply takes it"]);
  if (read.tenant !== null)
    throw textFault(["/tenant is of the whole box: box config apply takes it"]);
  if (only === undefined || more.length > 0 || only.name !== project)
    throw textFault([`it must have one project, ${project}: box config apply takes several`]);
  return {
    config: only.config,
    /** The same error with a line of the text for each fault. */
    placed: ({ code, message, details }: ServiceError) =>
      details.length === 0 || code === "version_conflict"
        ? new ServiceError(code, message)
        : new ServiceError(code, message, { details: atText(read.faultsOf(0, details)) }),
  };
}

const atText = (lines: readonly string[]): ErrorDetail[] =>
  lines.map((reason) => ({ field: "/text", reason }));

function textFault(lines: readonly string[]): ServiceError {
  const [first = ""] = lines;
  return new ServiceError("invalid_request", `The text can't be read: ${first}`, {
    details: atText(lines),
  });
}
