/** One of the answers that a question offers. */
export interface QuestionOption {
  readonly value: string;
  readonly label: string;
  /** The answer must carry JSON (`done --output JSON`). */
  readonly takesValue?: boolean;
  /** Name of a text that may go with it. */
  readonly promptFor?: string;
  readonly multiline?: boolean;
}
