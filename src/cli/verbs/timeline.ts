/** `splashdown show --timeline` and `--svg FILE`: when the steps of a task ran. */
import { writeFile } from "node:fs/promises";
import { messageOf, SplashdownError } from "../../base/errors.js";
import type { TimelineView } from "../../runtime/contract.js";
import { coloursOf } from "../terminal/output.js";
import { formatTimelineSvg } from "../text/timeline-svg.js";
import { formatTimeline } from "../text/timeline-text.js";
import { withSplashdown, type VerbCall } from "../command/verb.js";

export interface TimelineFlags {
  readonly timeline?: boolean;
  readonly svg?: string;
}

const WIDTH_WITHOUT_TERMINAL = 100;

/** Errors: those of reading; USAGE_INVALID when the picture cannot be written. */
export async function showTimeline(task: string, flags: TimelineFlags, call: VerbCall): Promise<void> {
  const { streams } = call.deps;
  await withSplashdown(call, async ({ splashdown, options, print }) => {
    const view = await splashdown.timeline(task);
    if (flags.svg !== undefined) await writePicture(flags.svg, view);
    if (flags.timeline === true || options.json === true) {
      const width = streams.columns?.() || WIDTH_WITHOUT_TERMINAL;
      print(view, (timeline) => formatTimeline(timeline, { width, colours: coloursOf(streams) }));
    } else {
      print({ task: view.task, file: flags.svg ?? "" }, ({ file }) => `the timeline of ${view.task} is in ${file}`);
    }
  });
}

async function writePicture(file: string, view: TimelineView): Promise<void> {
  try {
    await writeFile(file, formatTimelineSvg(view), { mode: 0o600 });
  } catch (error) {
    throw new SplashdownError("USAGE_INVALID", `the picture cannot be written: ${messageOf(error)}`, {
      details: { file },
      cause: error,
    });
  }
}
