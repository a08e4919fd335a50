/** A route that no schema describes, as the OpenAPI document shows it. */
export interface RawOperation {
  method: string;
  path: string;
  operation: object;
}

/** What an answer is: why it comes, and its content by type. */
type RawAnswer = string | { description: string; content: object };

interface RawWords {
  tag: string;
  /** The operation's id. */
  name: string;
  summary: string;
  /** Default: none is needed. */
  security?: readonly object[];
  /** It was part of the first published interface. */
  first?: true;
  /** The schema of the form that it takes. */
  form?: object;
  /** The same of JSON. */
  json?: object;
  answers: Readonly<Record<number, RawAnswer>>;
}

const text = { type: "string" };

/** A page, and why it comes. */
export const pageAnswer = (description: string, more: object = {}): RawAnswer =>
  textAnswer(description, "text/html", more);

/** An answer of texts of a type. */
export const textAnswer = (description: string, type: string, more: object = {}): RawAnswer => ({
  description,
  content: { [type]: { schema: text }, ...more },
});

/** What an address names in braces. */
export function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: text,
  }));
}

const formType = "application/x-www-form-urlencoded";

export function rawOperation(method: string, path: string, of: RawWords): RawOperation {
  const { tag, name, summary, security = [], first, form, json, answers } = of;
  const parameters = pathParameters(path);
  const schema = form ?? json;
  const content = { [form === undefined ? "application/json" : formType]: { schema } };
  const operation = {
    tags: [tag],
    security,
    ...(first !== true && { "x-additive": true }),
    operationId: name,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(schema !== undefined && { requestBody: { required: true, content } }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [
        status,
        typeof answer === "string" ? { description: answer } : answer,
      ]),
    ),
  };
  return { method, path, operation };
}
