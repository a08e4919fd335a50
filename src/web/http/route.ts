import type { z } from "zod";
import type { ErrorCode } from "../../ground/kit/errors.ts";
import type { Actor } from "../../people/actor.ts";
import type { Tenant } from "../../tenant/tenant.ts";

export type RouteMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Which credential opens a route (contract §16). "none" routes authenticate by what their body or query holds. */
export type Plane = "api" | "session" | "none";

/** What was sent, checked and understood. */
interface Asked<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** The client's address (contract §3: the right-most untrusted one behind a proxy). */
  address: string;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  /** Those that the route asks for, where they were sent. */
  headers: Readonly<Record<string, string>>;
}

/** One request to a tenant's data plane. Handlers only translate it into a verb's arguments. */
export interface Call<P, Q, B> extends Asked<P, Q, B> {
  tenant: Tenant;
  actor: Actor;
}

/** The hosted account that a session token stands for. */
export interface SessionAccount {
  /** 16 hex characters. */
  id: string;
  email: string;
}

/** One request of the account plane, which belongs to no tenant. */
interface SessionCall<P, Q, B> extends Asked<P, Q, B> {
  account: SessionAccount;
}

type Infer<T extends z.ZodType | undefined> = T extends z.ZodType ? z.infer<T> : undefined;

/**
 * What a handler gives back: the body its route promises, or a whole response where that is no JSON.
 * A status without a body (204) promises undefined.
 */
type Answered<A extends z.ZodType> = z.output<A> | Response;

/** What a route says of itself beside the shapes of what it takes and answers. */
export interface RouteFacts {
  method: RouteMethod;
  /** As in the API document: `/v1/projects/{id}/sources/{name}`. */
  path: string;
  /** A camelCase name, unique: the operationId. */
  name: string;
  tag: string;
  summary: string;
  /** Needs a live role of owner or admin (contract §16, rule 1). */
  manager?: boolean;
  /** Of the managers only an owner. */
  owner?: boolean;
  /** A limit by address, for routes that no key is asked for (contract §9). */
  limit?: "pair";
  /** Answered by the box role only (contract §1); 404 on hosted. */
  boxOnly?: boolean;
  /** Not in the API document: added by this program. */
  additive?: boolean;
  /** What it does is no change of the store, a test that goes out: the audit is told when it is done. */
  auditAlways?: boolean;
  /** Its GET consumes or waits, so HEAD must not run it. */
  noHead?: boolean;
  /** Header fields, in lower case, that its handler looks at. */
  wantsHeaders?: readonly string[];
  /** Fields that a read of the same thing returns: accepted in the body and ignored (contract §2). */
  readOnly?: readonly string[];
  /** Of these the one that its address ends with: a body that says another is refused. */
  ownName?: string;
  /** Where its body names people, as `escalations.*.accounts.*`: an `email:` form becomes the id before it is handled. */
  people?: readonly string[];
  /** Bytes; default 128 KiB. */
  bodyLimit?: number;
  /** Usual status and the shape of its body. */
  status: number;
  errors: readonly ErrorCode[];
}

/** A route as far as it says nothing of who calls. */
interface RouteShape<
  P extends z.ZodType | undefined,
  Q extends z.ZodType | undefined,
  B extends z.ZodType | undefined,
  A extends z.ZodType,
> extends RouteFacts {
  params?: P;
  query?: Q;
  body?: B;
  answer: A;
}

interface SessionRouteSpec<
  P extends z.ZodType | undefined,
  Q extends z.ZodType | undefined,
  B extends z.ZodType | undefined,
  A extends z.ZodType,
> extends RouteShape<P, Q, B, A> {
  handle(call: SessionCall<Infer<P>, Infer<Q>, Infer<B>>): Answered<A> | Promise<Answered<A>>;
}

/** A route with its types forgotten, as the app and the OpenAPI document take it. */
export type Route = RouteShape<
  z.ZodType | undefined,
  z.ZodType | undefined,
  z.ZodType | undefined,
  z.ZodType
> & {
  plane: Plane;
  handle(call: never): unknown;
};

/** A route of the account plane (contract §16): opened by a session token. */
export function sessionRoute<
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  A extends z.ZodType = z.ZodType,
>(spec: SessionRouteSpec<P, Q, B, A>): Route {
  return { ...spec, plane: "session" } as unknown as Route;
}
