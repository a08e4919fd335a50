/** A change of the whole box, in words, and the function that makes it. */
export interface TenantChange {
  kind: "gateway" | "fallback" | "ladder";
  name: string;
  change: "create" | "update" | "delete";
  /** Before the projects, which refer to it. */
  isFirst?: true;
  apply(): Promise<unknown>;
}
