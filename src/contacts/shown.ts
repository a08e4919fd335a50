/** What a read may show of an address: the last four characters. */
export function masked(address: string): string {
  return address.length <= 4 ? "…" : `…${[...address].slice(-4).join("")}`;
}

/** What a read may show of a mail address: the last character before the @, and the domain. */
export function maskedMail(address: string): string {
  const at = address.lastIndexOf("@");
  return at < 0 ? masked(address) : `…${address.slice(Math.max(0, at - 1))}`;
}
