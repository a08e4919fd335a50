/**
 * Whether an `Accept` header asks for JSON rather than a page (RFC 9110 §12.5.1): it names
 * `application/json`, and nothing that a page would be sent as is wanted as much. A browser and a
 * client that takes anything get the page.
 */
export function prefersJson(accept: string | undefined): boolean {
  const weights = new Map<string, number>();
  for (const part of (accept ?? "").split(",").slice(0, 32)) {
    const [range = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = q === undefined ? 1 : Number(q.slice(2));
    weights.set(range, weight >= 0 && weight <= 1 ? weight : 0);
  }
  const json = weights.get("application/json") ?? 0;
  const page = weights.get("text/html");
  if (json === 0) return false;
  // A wildcard names the page no more than it names JSON.
  return page === undefined
    ? json >= (weights.get("text/*") ?? weights.get("*/*") ?? 0)
    : json > page;
}
