import type { Author } from "../../ground/audit/record.ts";
import { auditKinds } from "../../ground/audit/things.ts";
import { type PathForm, pathForm } from "../../ground/kit/path-form.ts";
import type { Form, MakeFile, Screen } from "./screen.ts";

export interface Found {
  screen: Screen;
  /** Percent-decoded. */
  params: Record<string, string>;
}

export type Routing = ReturnType<typeof createRouting>;

export type FoundFile = Found & { make: MakeFile };

interface Row<T> {
  /** The more of its segments are written out, the sooner it is tried. */
  form: PathForm;
  what: T;
}

/** Finds screens by their addresses: `/p/new` before `/p/{project}`. Throws for two of one address. */
export function createRouting(screens: readonly Screen[]) {
  const pages = table(screens.map((screen) => ({ path: screen.path, what: screen })));
  const forms = table(
    screens.flatMap((screen) =>
      Object.entries(screen.forms ?? {}).map(([suffix, form]) => ({
        path: suffix === "" ? screen.path : `${screen.path}/${suffix}`,
        what: { screen, form },
      })),
    ),
  );
  const files = table(
    screens.flatMap((screen) =>
      Object.entries(screen.files ?? {}).map(([suffix, make]) => ({
        path: `${screen.path}/${suffix}`,
        what: { screen, make },
      })),
    ),
  );
  return {
    /** The screen at an address; null where there is none. */
    screen(path: string): Found | null {
      const found = look(pages, path);
      return found && { screen: found.what, params: found.params };
    },
    /** What a POST there does. */
    form(path: string): (Found & { form: Form }) | null {
      const found = look(forms, path);
      return found && { ...found.what, params: found.params };
    },
    /** The file at an address. */
    file(path: string): FoundFile | null {
      const found = look(files, path);
      return found && { ...found.what, params: found.params };
    },
  };
}

function table<T>(entries: readonly { path: string; what: T }[]): Row<T>[] {
  const seen = new Set<string>();
  const rows = entries.map(({ path, what }) => {
    const shape = path.replace(/\{[^}]+\}/g, "{}");
    if (seen.has(shape)) throw new Error(`two screens or forms at ${shape}`);
    seen.add(shape);
    return { form: pathForm(path), what };
  });
  return rows.sort((a, b) => b.form.literals - a.form.literals);
}

function look<T>(
  rows: readonly Row<T>[],
  path: string,
): { what: T; params: Record<string, string> } | null {
  const sent = path.split("/");
  for (const { form, what } of rows) {
    const found = form.read(sent);
    if (found === null) continue;
    const params: Record<string, string> = Object.create(null);
    form.names.forEach((name, index) => {
      params[name] = decodeURIComponent(found[index] ?? "");
    });
    return { what, params };
  }
  return null;
}

/** Kinds of things that a project has by their names. */
const IN_PROJECT: ReadonlySet<string> = new Set(["rule", "source", "schedule"]);

/**
 * What a form is done to, for an audit entry of which nothing that is watched changed: the last thing that its address names
 * (`/a/{alert}/ack`), else what it says itself, else what its verb is about (`createHeartbeat`).
 */
export function targetOf({ verb, target }: Form, params: Found["params"]): Author["target"] {
  const named = Object.keys(params).findLast((name) => auditKinds.includes(name));
  if (named !== undefined) {
    const id = params[named] ?? "";
    return { kind: named, id: IN_PROJECT.has(named) ? `${params["project"]}/${id}` : id };
  }
  const noun = verb.replace(/^[a-z]+/, "").replace(/(?!^)[A-Z]/g, "_$&");
  const [kind = "", id = ""] = (target ?? noun.toLowerCase()).split(":", 2);
  return { kind, id };
}
