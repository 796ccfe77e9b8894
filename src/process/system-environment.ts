/** Environment of the system's own tools: found without the caller's PATH, in one language. */
export const SYSTEM_ENVIRONMENT = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C" } as const;

/** In the environment of every child, and of what it begins: the mark of its group (process-tree.ts). */
export const MARK_VARIABLE = "SPLASHDOWN_GROUP";
