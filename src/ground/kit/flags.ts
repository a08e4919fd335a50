/** A bad value of a flag or an environment variable: exit code 2. */
export class UsageError extends Error {}

/**
 * Checks an http or https address without query, fragment and user, and returns it without a slash at its end. Empty
 * stays empty. For a bad address it adds a sentence that names the flag to `faults` and returns "".
 */
export function webUrl(name: string, text: string, faults: string[]): string {
  if (text === "") return "";
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.search !== "" ||
    url.hash !== "" ||
    url.username !== ""
  ) {
    faults.push(`--${name} must be an http or https address without query, not "${text}"`);
    return "";
  }
  return url.href.replace(/\/+$/, "");
}
