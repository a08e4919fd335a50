const DAY = 86_400;

/** Seconds that a session lasts, and at least so many between two writes of its last use. */
export const sessionLife = { idle: 30 * DAY, longest: 180 * DAY, touch: 60 } as const;

export interface HostedAccount {
  /** 16 hex characters. */
  id: string;
  email: string;
}

export interface Accounts {
  /** Adds an account, or finds the one with this email (`foldEmail`). */
  add(email: string): Promise<{ account: HostedAccount; created: boolean }>;
  get(id: string): Promise<HostedAccount | null>;
  byEmail(email: string): Promise<HostedAccount | null>;
}

export interface Sessions {
  /** Creates a session token (`pts_…`) for an account; only its hash is stored. */
  add(accountId: string): Promise<string>;
  /** The account of a token; null when unknown, idle for 30 days or 180 days old. */
  use(token: string): Promise<HostedAccount | null>;
}

/** How 1.0 folded emails: it didn't compose accents. */
export function lowerEmail(email: string): string {
  return email.trim().toLowerCase();
}
