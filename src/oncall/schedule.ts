/** One layer (api §2, On-call schedule). `shift_minutes` ≥ 1. */
export interface Layer {
  name: string;
  /** Account ids in the order they take turns. */
  participants: string[];
  rotation_start: number;
  shift_minutes: number;
  /** Null: always. `days` 0 (Sunday) to 6, none is every day; minutes of the local day. */
  restriction: { days: number[]; start_minute: number; end_minute: number } | null;
}

/** One override (api §2, On-call override). */
export interface Override {
  id: string;
  account_id: string;
  starts_at: number;
  ends_at: number;
}

export interface Schedule {
  timezone: string;
  /** The later layer wins where it covers. */
  layers: Layer[];
  /** In the order they were made, oldest first: the newer wins. */
  overrides: Override[];
}
