import { useSignal } from "@preact/signals";
import { formatSize } from "../model/figures.js";
import { cutText, showText, splitLinks } from "../model/visible.js";

const LONG = 4000;

interface TextProps {
  readonly of: string;
  /** Longer texts are cut, with their size and a button for the rest. */
  readonly length?: number;
  readonly mono?: boolean;
}

/** A text of a model, a program or a person: data, never markup. */
export function Text({ of, length = LONG, mono }: TextProps) {
  const isWhole = useSignal(false);
  const { text, left } = isWhole.value ? { text: of, left: 0 } : cutText(of, length);
  return (
    <span class={mono === true ? "text mono" : "text"}>
      {splitLinks(showText(text)).map(({ text: piece, link }) =>
        link === undefined ? (
          piece
        ) : (
          <a href={link} target="_blank" rel="noopener noreferrer nofollow">
            {piece}
          </a>
        ),
      )}
      {left > 0 && (
        <button type="button" class="quiet" onClick={() => (isWhole.value = true)}>
          … {formatSize(left)} more
        </button>
      )}
    </span>
  );
}
