import * as z from "zod";
import { alertId } from "../../core/alerts/alert.ts";
import { getProject, type Project } from "../../core/projects/projects.ts";
import { getSource } from "../../core/projects/sources.ts";
import type { ErrorCode } from "../../ground/kit/errors.ts";
import { onlyRead } from "../../ground/kit/field-kind.ts";
import { madeOnce } from "../../ground/kit/made-once.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { mustBeOwnOrGoverned } from "../../out/contacts/contacts.ts";
import type { Actor } from "../../people/actor.ts";
import type { Call, Plane, Route, RouteFacts, RouteMethod } from "./route.ts";

export const deleted = z.object({ deleted: z.boolean() });
const updated = z.object({ updated: z.boolean() });

/** The parameters of a path by name: `{ id, aid }` for `/v1/projects/{id}/actions/{aid}`. */
type Params<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Record<Name, string> & Params<Rest>
  : object;

/** What routes lie below: an address, and the thing that it names. */
interface Scope<Path extends string, Thing extends object> {
  path: Path;
  /** The thing, which handlers are given with the call. Throws 404 where there is none. */
  find(reader: Reader, params: Params<Path>, actor: Actor): Thing;
  errors?: readonly ErrorCode[];
}

export const scope = <const Path extends string, Thing extends object>(
  given: Scope<Path, Thing>,
): Scope<Path, Thing> => given;

export const inTenant = scope({ path: "/v1", find: () => ({}) });

export const inProject = scope({
  path: "/v1/projects/{id}",
  find: (reader, { id }): { project: Project } => ({ project: getProject(reader, id) }),
});

/** What lies below a thing of another scope. */
export const scopeBelow = <
  const Path extends string,
  Thing extends object,
  const Below extends string,
  Inner extends object,
>(
  { path, find, errors = [] }: Scope<Path, Thing>,
  below: Below,
  inner: (reader: Reader, of: Thing & { params: Params<`${Path}${Below}`> }) => Inner,
): Scope<`${Path}${Below}`, Thing & Inner> => ({
  path: `${path}${below}`,
  find(reader, params, actor) {
    const thing = find(reader, params as Params<Path>, actor);
    return { ...thing, ...inner(reader, { ...thing, params }) };
  },
  errors,
});

export const ofSource = scopeBelow(inProject, "/sources/{name}", (reader, { project, params }) => ({
  source: getSource(reader, project, params.name),
}));

export const ofAlert = scope({
  path: "/v1/alerts/{id}",
  find: (_reader, { id }): { alert: number } => ({ alert: alertId(id) }),
});

/** What is a person's own: `me` is the caller, and who is somebody else has to govern them. */
export const ofAccount = scope({
  path: "/v1/accounts/{account}",
  find(reader, { account: asked }, { accountId }): { account: string } {
    const account = asked === "me" ? accountId : asked;
    mustBeOwnOrGoverned(reader, accountId, account);
    return { account };
  },
  errors: ["forbidden"],
});

/** What the routes of a noun have in common. */
type Common = Pick<RouteFacts, "tag" | "additive" | "manager" | "boxOnly"> & {
  /** Parameters of their paths that aren't any text. */
  params?: Readonly<Record<string, z.ZodType<string>>>;
};

type Facts = Omit<RouteFacts, "method" | "path" | "tag" | "status" | "errors"> & {
  /** What a read of the same thing answers: its fields that the body doesn't take are accepted and ignored (contract §2). */
  reads?: z.ZodType;
  /** Default: `api`. */
  plane?: Exclude<Plane, "session">;
  /** Default: 200. */
  status?: number;
  /** What it refuses beside what its address, query, body and role imply. */
  errors?: readonly ErrorCode[];
  /** What its address names is made where there is none: never 404. */
  makes?: boolean;
};

type Shape = z.ZodType | undefined;
type Given<S extends Shape> = S extends z.ZodType ? z.output<S> : undefined;
type Answered<S extends Shape> = S extends z.ZodType ? z.output<S> | Response : unknown;

/** A route reads, is one transaction, or is neither. */
type Handler<C, A> =
  | { read(store: Reader, call: C): A }
  | { write(tx: Tx, call: C): A }
  | { handle(call: C): A | Promise<A> };

type Spec<P, Thing, Q extends Shape, B extends Shape, A extends Shape> = Facts & {
  query?: Q;
  body?: B;
  /** Default: that it is done. */
  answer?: A;
} & Handler<Call<P, Given<Q>, Given<B>> & Thing, Answered<A>>;

/** The same with its types forgotten, and with what is known of its noun. */
type Whole = Common &
  Facts &
  Pick<RouteFacts, "method" | "path"> & { query?: Shape; body?: Shape; answer?: Shape } & Handler<
    never,
    unknown
  >;

/**
 * Makes the routes of a noun in a scope: `routesIn(inProject, { at: "/actions", tag: "Actions" })` has one function for each
 * method, which takes what stands in the path behind that. A path's parameters are texts, what isn't there is 404, a body is
 * JSON of its shape, a manager's route is forbidden to others: no route says so itself.
 */
export function routesIn<Path extends string, Thing extends object, const At extends string = "">(
  scope: Scope<Path, Thing>,
  { at, ...common }: Common & { at?: At },
) {
  const by =
    (method: RouteMethod) =>
    <
      const Below extends string,
      Q extends Shape = undefined,
      B extends Shape = undefined,
      A extends Shape = undefined,
    >(
      below: Below,
      spec: Spec<Params<`${Path}${At}${Below}`>, Thing, Q, B, A>,
    ): Route => {
      const path = `${scope.path}${at ?? ""}${below}`;
      return routeOf(scope as Scope<string, object>, { ...common, ...spec, method, path });
    };
  return {
    get: by("GET"),
    post: by("POST"),
    put: by("PUT"),
    patch: by("PATCH"),
    delete: by("DELETE"),
  };
}

function routeOf(
  scope: Scope<string, object>,
  { makes = false, params = {}, reads, ...spec }: Whole,
): Route {
  const names = [...spec.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const isChecked = names.some((name) => name in params);
  const readOnly = reads && spec.body ? onlyRead(reads, spec.body) : [];
  const ownName = readOnly.find((name) => spec.path.endsWith(`/{${name}}`));
  const implied: (readonly ErrorCode[])[] = [
    spec.body || spec.query || isChecked ? ["invalid_request"] : [],
    spec.body ? ["invalid_json"] : [],
    spec.manager ? ["forbidden"] : [],
    scope.errors ?? [],
    names.length > 0 && !makes ? ["not_found"] : [],
    ownName === undefined ? [] : ["name_mismatch"],
  ];
  return {
    plane: "api",
    status: 200,
    ...spec,
    ...(readOnly.length > 0 && { readOnly }),
    ...(ownName !== undefined && { ownName }),
    ...(names.length > 0 && { params: isChecked ? inPath(names, params) : textsInPath(names) }),
    answer: spec.answer ?? (spec.method === "DELETE" ? deleted : updated),
    errors: [...implied.flat(), ...(spec.errors ?? [])],
    handle: handlerOf(scope, spec),
  };
}

const anyText = z.string();
const inPath = (names: readonly string[], params: NonNullable<Common["params"]>) =>
  z.strictObject(Object.fromEntries(names.map((name) => [name, params[name] ?? anyText])));

const textsInPath = madeOnce((names: readonly string[]) => inPath(names, {}));

type AnyCall = Call<Record<string, string>, unknown, unknown>;

function handlerOf(
  scope: Scope<string, object>,
  spec: Handler<never, unknown> & Pick<Whole, "method" | "answer">,
) {
  const run = (call: AnyCall): unknown => {
    const { store } = call.tenant;
    const found = (reader: Reader) =>
      ({ ...call, ...scope.find(reader, call.params, call.actor) }) as never;
    if ("write" in spec) return store.write((tx) => spec.write(tx, found(tx)));
    return "read" in spec ? spec.read(store, found(store)) : spec.handle(found(store));
  };
  if (spec.answer !== undefined) return run;
  const done = spec.method === "DELETE" ? { deleted: true } : { updated: true };
  return async (call: AnyCall): Promise<object> => {
    await run(call);
    return done;
  };
}
