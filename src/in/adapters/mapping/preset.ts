/** A mapping for one sender, and where its body comes from. */
export interface Preset {
  title: string;
  /** What a person has to know or paste at the sender beside the address. */
  paste?: string;
  document: Readonly<Record<string, unknown>>;
}
