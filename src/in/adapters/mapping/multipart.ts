/** Parts that are read, bytes of a part's head, and characters of a field; files are skipped. */
const MOST_PARTS = 200;
const MOST_HEAD = 4096;
const MOST_CHARACTERS = 65_536;

const HEAD_END = Buffer.from("\r\n\r\n");

/** The fields of a multipart form (RFC 7578) in order; null where it is incomplete or has too many parts. */
export function multipartFields(body: Buffer, type: string): [string, string][] | null {
  const [, quoted, plain] = /boundary=(?:"([^"\r\n]{1,200})"|([^\s;"]{1,200}))/i.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return null;
  const mark = Buffer.from(`--${boundary}`);
  const between = Buffer.from(`\r\n--${boundary}`);
  const fields: [string, string][] = [];
  let at = body.indexOf(mark);
  for (let parts = 0; at !== -1 && parts <= MOST_PARTS; parts++) {
    at += mark.length;
    if (body.subarray(at, at + 2).toString("latin1") === "--") return fields;
    const start = body.indexOf("\r\n", at, "latin1") + 2;
    const head = body.indexOf(HEAD_END, start - 2);
    const end = body.indexOf(between, head + 2);
    if (start < 2 || head === -1 || head - start > MOST_HEAD || end === -1) return null;
    const name = fieldName(body.subarray(start, Math.max(start, head)).toString("utf8"));
    const text = body.subarray(head + HEAD_END.length, end);
    if (name !== null) fields.push([name, text.toString("utf8").slice(0, MOST_CHARACTERS)]);
    at = end + 2;
  }
  return null;
}

/** The field's name; null for a file, and for a part without a name. */
function fieldName(head: string): string | null {
  const line = head.split("\r\n").find((text) => /^content-disposition:/i.test(text)) ?? "";
  if (/;\s*filename\*?=/i.test(line)) return null;
  const [, quoted, plain] = /;\s*name=(?:"([^"]*)"|([^\s;"]+))/i.exec(line) ?? [];
  return quoted ?? plain ?? null;
}
