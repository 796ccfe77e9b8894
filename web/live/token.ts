/**
 * The token of this server: it comes once in the fragment, leaves the address bar at once, and is kept for this origin,
 * which no other local server can read.
 */
const KEPT = "splashdown-token";

export function takeToken(): string | undefined {
  const [, token] = /^#token=([^&]+)/.exec(location.hash) ?? [];
  if (token !== undefined) {
    localStorage.setItem(KEPT, decodeURIComponent(token));
    const rest = location.hash.replace(/^#token=[^&]+&?/, "");
    history.replaceState(null, "", `${location.pathname}${rest === "" ? "" : `#${rest}`}`);
  }
  return localStorage.getItem(KEPT) ?? undefined;
}
