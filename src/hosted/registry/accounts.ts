const DAY = 86_400;

/** How long a session lasts, in seconds, and how often its last use is written down at most. */
export const sessionLife = { idle: 30 * DAY, longest: 180 * DAY, touch: 60 } as const;

export interface HostedAccount {
  /** 16 hex characters. */
  id: string;
  email: string;
}

export interface Accounts {
  /** Adds an account, or finds the one that has this email already (`foldEmail`). */
  add(email: string): Promise<{ account: HostedAccount; created: boolean }>;
  get(id: string): Promise<HostedAccount | null>;
  byEmail(email: string): Promise<HostedAccount | null>;
}

export interface Sessions {
  /** Mints a session token (`pts_…`) for an account; only its hash is kept. */
  add(accountId: string): Promise<string>;
  /** The account a token stands for; null when unknown, idle for 30 days or 180 days old. */
  use(token: string): Promise<HostedAccount | null>;
}

/** As emails were folded in 1.0: é written as two characters was another one. */
export function lowerEmail(email: string): string {
  return email.trim().toLowerCase();
}
