/** Fills `${NAME}` and `${NAME:-default}` in texts of a workflow file at the moment of use. */
const VARIABLE = /(?<!\$)\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;
/** What stands for the text `${NAME}` itself. */
const ESCAPED = /\$\$\{/g;

export interface VariableSources {
  readonly environment: (name: string) => string | undefined;
  /** Told every value that was filled in: it is a secret from now on. */
  readonly learn: (secret: string) => void;
  /** What is thrown for a variable that is not set. */
  readonly missing: (name: string) => Error;
}

export function fillVariables(text: string, { environment, learn, missing }: VariableSources): string {
  const filled = text.replace(VARIABLE, (_whole, name: string, otherwise?: string) => {
    const value = environment(name);
    if (value !== undefined) learn(value);
    const known = value ?? otherwise;
    if (known === undefined) throw missing(name);
    return known;
  });
  return filled.replace(ESCAPED, "${");
}

/** Scheme and host of an address, or a variable that holds both: where something is, and no secret. */
const PLACE = /^(?:\$\{[^}]*\}|[a-z]+:\/\/(?:(?<user>[^/@?#]*)@)?[^/?#]*)/i;

/** The names in an address that may hold a key: those in its user, path and query. */
export function listAddressSecrets(text: string): string[] {
  const found = PLACE.exec(text);
  return listVariables(`${found?.groups?.["user"] ?? ""} ${text.slice(found?.[0].length ?? 0)}`);
}

/** The names in a text. */
export function listVariables(text: string): string[] {
  return [...text.matchAll(VARIABLE)].map(([, name = ""]) => name);
}
