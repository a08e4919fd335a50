/** The closed list of error codes and their statuses (contract §2, Errors). OpenAPI publishes them. */
export const errorStatus = {
  invalid_request: 400,
  invalid_json: 400,
  content_too_complex: 400,
  clock_skew: 400,
  receipt_refused: 400,
  unauthorized: 401,
  pairing_refused: 401,
  sign_in_refused: 401,
  receipt_not_accepted: 401,
  password_required: 401,
  forbidden: 403,
  address_refused: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  name_taken: 409,
  name_mismatch: 409,
  source_in_use: 409,
  action_in_use: 409,
  schedule_in_use: 409,
  ladder_in_use: 409,
  holidays_in_use: 409,
  account_in_use: 409,
  last_owner: 409,
  managed_integration: 409,
  integration_disabled: 409,
  action_disabled: 409,
  action_not_runnable: 409,
  already_paired: 409,
  hosted_tenant: 409,
  delivery_not_resendable: 409,
  push_in_flight: 409,
  version_conflict: 409,
  alert_resolved: 409,
  ladder_over: 409,
  just_acknowledged: 409,
  note_closed: 409,
  contact_not_verified: 409,
  gateway_missing: 409,
  digest_off: 409,
  drill_running: 409,
  backup_dir_missing: 409,
  length_required: 411,
  body_too_large: 413,
  unsupported_encoding: 415,
  not_a_member: 422,
  unknown_schedule: 422,
  unknown_action: 422,
  unknown_ladder: 422,
  two_ladders: 422,
  schedule_not_shared: 422,
  unknown_alert: 422,
  invalid_mapping: 422,
  missing_credential: 422,
  credential_not_allowed: 422,
  invalid_device_token: 422,
  relay_not_proved: 422,
  too_many_devices: 422,
  invalid_timezone: 422,
  invalid_layer: 422,
  invalid_override: 422,
  invalid_ask: 422,
  invalid_silence: 422,
  invalid_subscription: 422,
  schedule_too_complex: 422,
  too_many: 422,
  nobody_on_call: 422,
  unknown_contact: 422,
  code_refused: 422,
  password_refused: 422,
  gateway_refused: 422,
  rate_limited: 429,
  overloaded: 429,
  storage_full: 429,
  headers_too_large: 431,
  internal: 500,
  push_failed: 502,
  relay_unavailable: 503,
  sender_unavailable: 503,
  not_ready: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** One bad field of a request. `field`: a JSON pointer, `?query` or `{path}` name. */
export interface ErrorDetail {
  field?: string;
  reason: string;
  value?: string;
}

/** An error that the caller gets as an answer. Everything else that is thrown becomes a 500. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  /** Whole seconds for `Retry-After`, where it helps to wait. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    more: { details?: readonly ErrorDetail[]; retryAfter?: number } = {},
  ) {
    super(message);
    this.name = "ServiceError";
    this.code = code;
    this.details = more.details ?? [];
    this.retryAfter = more.retryAfter;
  }

  get status(): number {
    return errorStatus[this.code];
  }
}

/** A 404 for `what` (a noun: "project", "rule"). */
export function notFound(what: string): ServiceError {
  return new ServiceError("not_found", `There is no such ${what}.`);
}

/** A 400 that names each bad field. */
export function invalid(details: readonly ErrorDetail[]): ServiceError {
  const [first] = details;
  const where = first?.field === undefined ? "" : `${first.field}: `;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : "";
  return new ServiceError("invalid_request", `${where}${first?.reason ?? "invalid"}${more}`, {
    details,
  });
}
