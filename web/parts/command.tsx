import { useSignal } from "@preact/signals";
import { showText } from "../model/visible.js";

/** A command as it is typed, with a button that copies it. */
export function Command({ of }: { readonly of: string }) {
  const isCopied = useSignal(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(of).then(() => {
      isCopied.value = true;
      setTimeout(() => (isCopied.value = false), 1500);
    });
  };
  return (
    <span class="command">
      <code>{showText(of)}</code>
      <button type="button" class="quiet" onClick={copy} aria-label={`copy ${of}`}>
        {isCopied.value ? "copied" : "copy"}
      </button>
    </span>
  );
}
