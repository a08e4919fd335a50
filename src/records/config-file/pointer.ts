import { ServiceError } from "../../ground/kit/errors.ts";

/** Runs an operation on a part of a larger body. Its errors name the fields from the body's root. */
export function at<T>(pointer: string, verb: () => T): T {
  try {
    return verb();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const details = error.details.map((detail) => ({
      ...detail,
      field: `${pointer}${detail.field?.startsWith("/") ? detail.field : ""}`,
    }));
    throw new ServiceError(error.code, error.message, {
      details: details.length > 0 ? details : [{ field: pointer, reason: error.code }],
    });
  }
}
