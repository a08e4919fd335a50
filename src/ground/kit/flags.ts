/** Bad values of flags or environment: exit code 2. */
export class UsageError extends Error {}

/**
 * An http or https address without query, fragment and user, without a slash at its end; empty stays empty.
 * A bad one puts a sentence that names the flag into `faults` and is empty.
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
