import { formatShare } from "../model/figures.js";

/** A confidence as a bar with its figure. */
export function Meter({ of }: { readonly of: number | null | undefined }) {
  if (of === null || of === undefined) return <span class="muted">no confidence yet</span>;
  return (
    <span class="meter" title="confidence">
      <span class="bar-cell">
        <span class="bar" style={{ width: `${of * 100}%` }} />
      </span>
      {formatShare(of)}
    </span>
  );
}
