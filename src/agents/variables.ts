/** Fills `${NAME}` and `${NAME:-default}` in texts of a workflow file at the moment of use. */
const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

export interface VariableSources {
  readonly environment: (name: string) => string | undefined;
  /** Told every value that was filled in: it is a secret from now on. */
  readonly learn: (secret: string) => void;
  /** What is thrown for a variable that is not set. */
  readonly missing: (name: string) => Error;
}

export function fillVariables(text: string, { environment, learn, missing }: VariableSources): string {
  return text.replace(VARIABLE, (_whole, name: string, otherwise?: string) => {
    const value = environment(name);
    if (value !== undefined) learn(value);
    const filled = value ?? otherwise;
    if (filled === undefined) throw missing(name);
    return filled;
  });
}

/** The names in a text. */
export function listVariables(text: string): string[] {
  return [...text.matchAll(VARIABLE)].map(([, name = ""]) => name);
}
