import type { ImportedSecret } from "./importer.ts";

/** Gives credentials their variables: `SLACK_TEAM_X_WEBHOOK_URL`. One value of one field has one, whoever asks. */
export class SecretNames {
  readonly secrets: ImportedSecret[] = [];

  /** The reference that stands in the file. `words` make the name, `what` says what it is; no value: it has to be entered. */
  refer(
    words: readonly string[],
    { value, what }: { value: string | null; what: string },
  ): { env: string } {
    const plain = words
      .map((word) => word.toUpperCase().replace(/[^A-Z0-9]+/g, "_"))
      .map((word) => word.replace(/^_+|_+$/g, ""))
      .filter((word) => word !== "")
      .join("_");
    const name = /^[A-Z]/.test(plain) ? plain : `SECRET_${plain}`;
    for (let n = 1; ; n += 1) {
      const env = n === 1 ? name : `${name}_${n}`;
      const there = this.secrets.find((one) => one.env === env);
      if (there === undefined) {
        this.secrets.push({ env, value, what });
        return { env };
      }
      if (there.value === value && there.what === what) return { env };
    }
  }
}
