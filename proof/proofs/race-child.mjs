// A process of races.mjs: the owner of all tasks, or one that wants what it is told to.
import { openSplashdown } from "../../dist/index.js";

const [mode, ...tasks] = process.argv.slice(2);
const splashdown = await openSplashdown();

if (mode === "run") {
  await Promise.all(tasks.map((task) => splashdown.run({ workflow: `${task}.json`, task })));
} else {
  process.on("message", ({ task }) => void want(task).then((answer) => process.send(answer)));
  process.send({ ready: true });
}

async function want(task) {
  try {
    const { status, reason } = await splashdown.resume({ task });
    return { status, reason };
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}
