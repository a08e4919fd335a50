/** A mapping for one sender. */
export interface Preset {
  title: string;
  /** What a person enters at the sender besides the address. */
  paste?: string;
  document: Readonly<Record<string, unknown>>;
}
