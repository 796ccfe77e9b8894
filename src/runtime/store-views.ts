/** What `store copy` takes and answers. */

export interface StoreCopyOptions {
  /** Addresses, as in settings. */
  readonly from: string;
  readonly to: string;
  /** Names; absent: all tasks of the store. */
  readonly tasks?: readonly string[];
}

export interface StoreCopyView {
  /** Addresses without passwords. */
  readonly from: string;
  readonly to: string;
  readonly tasks: readonly {
    readonly task: string;
    /** Files that were copied, and read again on both sides. */
    readonly files: number;
    /** Bytes. */
    readonly size: number;
    /** The folder of its deliverables, which stay. */
    readonly deliverables: string;
    readonly next: string;
  }[];
}
