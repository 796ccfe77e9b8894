/** Screens of a terminal over time as one animated SVG, which shows its last screen where nothing moves. */

export interface Frame {
  readonly atMs: number;
  readonly lines: readonly string[];
}

export interface PictureSize {
  readonly columns: number;
  readonly rows: number;
  /** How long the last screen stays before the picture begins again. */
  readonly restMs: number;
}

const CELL = { width: 8.4, height: 19 };
const EDGE = 16;
const BAR = 30;
/** First sign of a line, behind its time → its colour. */
const COLOURS: Readonly<Record<string, string>> = {
  "✓": "#7ee787",
  "✗": "#ff7b72",
  "●": "#79c0ff",
  "▸": "#d2a8ff",
  "◆": "#e3b341",
  "■": "#8b949e",
  $: "#7ee787",
  K: "#ff7b72",
};

/** Shape: frames in the order of time; equal ones that follow each other are one. */
export function drawFrames(frames: readonly Frame[], size: PictureSize): string {
  const kept = frames.filter(({ lines }, index) => lines.join("\n") !== frames[index - 1]?.lines.join("\n"));
  const allMs = (kept.at(-1)?.atMs ?? 0) + size.restMs;
  const width = Math.round(size.columns * CELL.width + 2 * EDGE);
  const height = BAR + size.rows * CELL.height + 2 * EDGE;
  const dots = ["#ff5f56", "#ffbd2e", "#27c93f"].map(
    (colour, index) => `<circle cx="${EDGE + 4 + index * 18}" cy="16" r="5" fill="${colour}"/>`,
  );
  const groups = kept.map((frame, index) => {
    const untilMs = kept[index + 1]?.atMs ?? allMs;
    const isLast = index === kept.length - 1;
    const times = `values="hidden;visible;hidden" keyTimes="0;${share(frame.atMs, allMs)};${share(untilMs, allMs)}"`;
    const rest = isLast ? `values="hidden;visible" keyTimes="0;${share(frame.atMs, allMs)}"` : times;
    const animate = `<animate attributeName="visibility" calcMode="discrete" ${rest} dur="${allMs}ms" repeatCount="indefinite"/>`;
    return `<g visibility="${isLast ? "visible" : "hidden"}">${animate}${drawLines(frame.lines.slice(-size.rows))}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A run is killed, and the same command continues where it stopped">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...dots,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#c9d1d9">`,
    ...groups,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

/** The text of the last screen of such a picture. */
export function readLastScreen(svg: string): string[] {
  const last = svg.slice(svg.lastIndexOf('<g visibility="visible">'));
  return [...last.matchAll(/<text [^>]*>(.*?)<\/text>/g)].map(([, text = ""]) => unescape(text));
}

function share(ms: number, ofMs: number): string {
  return (ms / ofMs).toFixed(4);
}

function drawLines(lines: readonly string[]): string {
  return lines
    .map((line, row) => {
      const colour =
        COLOURS[
          line
            .replace(/^\d\d:\d\d:\d\d /, "")
            .trimStart()
            .charAt(0)
        ];
      const isMarked = colour !== undefined && !/^K(?!illed)/.test(line);
      const y = BAR + EDGE + row * CELL.height;
      const fill = isMarked ? ` fill="${colour}"` : "";
      return line === "" ? "" : `<text x="${EDGE}" y="${y}" xml:space="preserve"${fill}>${escape(line)}</text>`;
    })
    .join("");
}

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const unescape = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
