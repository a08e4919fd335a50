/** What a read may show of an address: the last four characters, of a short one at most a third. */
export function masked(address: string): string {
  const all = [...address];
  const most = Math.min(4, Math.floor(all.length / 3));
  return most === 0 ? "…" : `…${all.slice(-most).join("")}`;
}

/** What a read may show of a mail address: the last character before the @ where there are others, and the domain. */
export function maskedMail(address: string): string {
  const at = address.lastIndexOf("@");
  return at < 0 ? masked(address) : `…${address.slice(at > 2 ? at - 1 : at)}`;
}
