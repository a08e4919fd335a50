import type { ImportedSecret } from "./importer.ts";

/** Names the variables of credentials: `SLACK_TEAM_X_WEBHOOK_URL`. Equal values of a field share one. */
export class SecretNames {
  readonly secrets: ImportedSecret[] = [];

  /** The reference for the file. `words`: the variable's name; `what`: its description. No value: to be entered. */
  refer(words: readonly string[], { value, what }: { value: string | null; what: string }) {
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
