/** Environment of the system's own tools: found without the caller's PATH, in one language. */
export const SYSTEM_ENVIRONMENT = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C" } as const;
