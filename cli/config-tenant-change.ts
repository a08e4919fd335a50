/** A change of the whole box, in words, and the function that makes it. */
export interface TenantChange {
  kind: "gateway" | "fallback" | "ladder" | "holidays";
  name: string;
  change: "create" | "update" | "delete";
  /** What of it changes, a line each. */
  lines?: string[];
  /** Before the projects, which refer to it. */
  isFirst?: true;
  apply(): Promise<unknown>;
}
