import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import {
  type IntegrationConfig,
  isSecretField,
  type ProjectConfig,
  type ProjectWithReferences,
  type Reference,
  type Secret,
} from "./shape.ts";

/** Where references to credentials are read; null where they can't be, because their author is on another machine. */
export type Lookup = {
  env: Readonly<Record<string, string | undefined>>;
  /** Relative paths begin here. */
  directory: string;
} | null;
type Machine = NonNullable<Lookup>;

/** A reference that can't be read. */
export class ReferenceFault extends Error {}

/** The project with every credential read. Throws ReferenceFault. */
export function lookUpAll(project: ProjectWithReferences, lookup: Lookup): ProjectConfig {
  const look = (reference: Reference): Secret => {
    if (reference === "kept") return "kept";
    return { value: lookUp(reference, lookup) };
  };
  return {
    ...project,
    actions: project.actions.map((action) => ({
      ...action,
      headers: Object.fromEntries(
        Object.entries(action.headers).map(([name, reference]) => [name, look(reference)]),
      ),
      body: action.body === null ? null : look(action.body),
    })),
    integrations: project.integrations.map((integration) => {
      const given = Object.entries(integration).filter(([, value]) => value !== undefined);
      const read = given.map(([field, value]) => [
        field,
        isSecretField(field) ? look(value as Reference) : value,
      ]);
      return Object.fromEntries(read) as IntegrationConfig;
    }),
  };
}

/** The value of a reference. Throws ReferenceFault. */
export function lookUp(found: Exclude<Reference, "kept">, lookup: Lookup): string {
  if (lookup === null)
    throw new ReferenceFault(
      `${"env" in found ? `{env: ${found.env}}` : `{file: ${found.file}}`} is only read by box config apply: write kept, and enter the secret on its page`,
    );
  return "env" in found ? fromEnv(found.env, lookup) : fromFile(found.file, lookup);
}

function fromEnv(name: string, { env }: Machine): string {
  const value = env[name];
  if (value === undefined || value === "")
    throw new ReferenceFault(`the environment has no ${name}`);
  return value;
}

/** An editor adds the line end at the end; it isn't part of the secret. */
function fromFile(path: string, { directory }: Machine): string {
  try {
    return readFileSync(resolve(directory, path), "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new ReferenceFault(error instanceof Error ? error.message : String(error));
  }
}
