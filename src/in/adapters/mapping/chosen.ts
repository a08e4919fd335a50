import type { SourceOptions } from "../../../core/projects/source.ts";
import { type ErrorDetail, ServiceError } from "../../../ground/kit/errors.ts";
import { mailPresets } from "../email/presets.ts";
import { type Mapping, readMapping } from "./document.ts";
import { presets } from "./presets.ts";

/** Compiled once for each options object. */
const ready = new WeakMap<object, Mapping | null>();

/** The mapping of a source's options; null where they have none, or one that this version doesn't know. */
export function mappingOf(options: SourceOptions): Mapping | null {
  const known = ready.get(options);
  if (known !== undefined) return known;
  const read = options.mapping === undefined ? null : chosen(options.mapping, "");
  const mapping = read !== null && "mapping" in read ? read.mapping : null;
  ready.set(options, mapping);
  return mapping;
}

/** Throws 422 for an invalid mapping, with a pointer to each fault, and for one that the kind doesn't use. */
export function mustBeUsable(kind: string, options: SourceOptions | undefined): void {
  const { mail_rules: rules } = options ?? {};
  if (typeof rules === "string" && !Object.hasOwn(mailPresets, rules)) {
    const reason = `must be a list, or one of ${Object.keys(mailPresets).join(", ")}`;
    throw unusable([{ field: "/options/mail_rules", reason }]);
  }
  if (options?.mapping === undefined) return;
  const at = "/options/mapping";
  const read =
    kind === "hook"
      ? chosen(options.mapping, at)
      : { faults: [{ field: at, reason: "is only for sources of kind hook" }] };
  if ("faults" in read) throw unusable(read.faults);
}

function unusable(details: ErrorDetail[]): ServiceError {
  const [first] = details;
  return new ServiceError("invalid_mapping", `${first?.field}: ${first?.reason}`, { details });
}

/** A preset by name, a document, or a document on top of its `preset`. */
function chosen(
  mapping: NonNullable<SourceOptions["mapping"]>,
  at: string,
): { mapping: Mapping } | { faults: ErrorDetail[] } {
  const { preset, ...own } = typeof mapping === "string" ? { preset: mapping } : mapping;
  if (preset === undefined) return readMapping(own, at);
  if (typeof preset === "string" && Object.hasOwn(presets, preset))
    return readMapping({ ...presets[preset]?.document, ...own }, at);
  const field = typeof mapping === "string" ? at : `${at}/preset`;
  return { faults: [{ field, reason: `must be one of ${Object.keys(presets).join(", ")}` }] };
}
