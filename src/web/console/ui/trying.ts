import type { Form, PageCall } from "../screen.ts";

/** A form that shows what it would do: nothing is stored, and what was typed stands in it again. */
export const trying = (
  verb: string,
  typed = (form: URLSearchParams): URLSearchParams => form,
): Form => ({
  verb,
  reads: true,
  act: (_call, form) => ({ said: "", shown: { draft: typed(form).toString() } }),
});

/** What was typed, where something was: it came back with one of these forms, or was tried. */
export function typedIn(
  { returned, shown }: PageCall,
  ...actions: readonly string[]
): URLSearchParams | null {
  if (returned !== null && actions.includes(returned.action)) return returned.form;
  return shown["draft"] === undefined ? null : new URLSearchParams(shown["draft"]);
}
