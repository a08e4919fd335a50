/** A field of several lines with the line breaks that were typed: forms send all of them as CR LF. */
export function formText(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? "").replace(/\r\n?/g, "\n");
}
