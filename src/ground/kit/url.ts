import { type AddressRules, addressRefusal } from "./addresses.ts";
import { invalid, ServiceError } from "./errors.ts";

/** Longest URL that is stored, in characters (contract §19). */
const LONGEST_URL = 2048;

/**
 * Checks a URL when it is written (contract §6, Egress); the client checks the address again when it connects. It must
 * be http or https, with a host, without user name or password. A fragment is allowed and never sent. Throws
 * ServiceError invalid_request that names `field`, and address_refused (403) where the host is a refused address. Names
 * are resolved only at the call, except `localhost`, which always means loopback (RFC 6761).
 */
export function checkUrl(url: string, rules: AddressRules, field = "/url"): URL {
  const parsed = readUrl(url);
  if (typeof parsed === "string") throw invalid([{ field, reason: parsed }]);
  mustBeCallable(parsed, rules, field);
  return parsed;
}

/** Checks a host in the same way, without brackets. Throws invalid_request and address_refused (403). */
export function checkHost(host: string, rules: AddressRules, field: string): void {
  const url = `http://${host.includes(":") ? `[${host}]` : host}/`;
  const isHost = /^[^\s\p{Cc}\\/?#@[\]]+$/u.test(host) && URL.canParse(url);
  if (!isHost) throw invalid([{ field, reason: "is not a host" }]);
  mustBeCallable(new URL(url), rules, field);
}

function mustBeCallable(url: URL, rules: AddressRules, field: string): void {
  const reason = hostRefusal(url, rules);
  if (reason === null) return;
  throw new ServiceError("address_refused", "That address may not be called from here.", {
    details: [{ field, reason }],
  });
}

/** The parsed URL, or why it can't be called: `scheme`, `credentials` … */
export function readUrl(url: string): URL | string {
  if (url.length > LONGEST_URL) return "too_long";
  // The URL parser silently drops tabs and line ends, but the stored text must be the one that is called.
  if (/[\s\p{Cc}\\]/u.test(url)) return "not_a_url";
  const parsed = URL.parse(url);
  if (parsed === null) return "not_a_url";
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") return "scheme";
  // The URL parser also accepts `http:host` and `http:///host`.
  if (!/^https?:\/\/[^/]/i.test(url)) return "not_a_url";
  if (parsed.username !== "" || parsed.password !== "") return "credentials";
  if (parsed.port === "0") return "port";
  return parsed;
}

/** Why the URL's host is refused, where it is a literal address or localhost; else null. */
function hostRefusal(url: URL, rules: AddressRules): string | null {
  const host = hostOf(url);
  if (/^(.*\.)?localhost\.?$/.test(host)) return addressRefusal("127.0.0.1", rules);
  return host.includes(":") || /^[\d.]+$/.test(host) ? addressRefusal(host, rules) : null;
}

/** The host without brackets. The URL parser has already normalised every spelling of an IPv4 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}
