/** What one person said once. */
export interface Guidance {
  readonly text: string;
  readonly by: string;
  /** When it was taken. */
  readonly atMs: number;
  /** The step or scope it is for; absent: the whole task. */
  readonly path?: string;
  /** Names the request. */
  readonly id?: string;
}
