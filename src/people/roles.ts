import { ServiceError } from "../ground/kit/errors.ts";
import type { Role } from "../ground/store/columns.ts";

export const roles = ["owner", "admin", "member"] as const satisfies readonly Role[];

const rank: Record<Role, number> = { owner: 3, admin: 2, member: 1 };

/** Whether role `a` is `b` or higher. */
export function atLeast(a: Role, b: Role): boolean {
  return rank[a] >= rank[b];
}

export function higher(a: Role, b: Role): Role {
  return rank[a] >= rank[b] ? a : b;
}

/** Owner or admin: may do the manager operations (contract §16, rule 1). */
export function isManager(role: Role): boolean {
  return atLeast(role, "admin");
}

/** Throws ServiceError forbidden unless `role` is owner. */
export function mustBeOwner(role: Role): void {
  if (role !== "owner") throw new ServiceError("forbidden", "This needs the role owner.");
}

/** Throws ServiceError forbidden unless `role` is a manager's. */
export function mustManage(role: Role): void {
  if (!isManager(role)) throw new ServiceError("forbidden", "This needs the role owner or admin.");
}
