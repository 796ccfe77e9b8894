/** Addresses of stores as people may see them. */

/** With or without slashes; what stands after a colon in the user is a password. */
const USER_PART = /^([a-z]{1,20}:\/\/|(?:postgres(?:ql)?|rediss?):)([^/?#]*)@/i;
/** Addresses that are no URL: a password with a slash in it, or without a host. */
const BARE_USER = /^((?:postgres(?:ql)?|rediss?):(?:\/\/)?)([^:@/?#[]*):(?!\d{0,5}(?:[/?#]|$))([^?]*)$/i;
const PASSWORD_VALUE = /([?&](?:password|sslpassword)=)[^&#]*/gi;

/** The address without a password; all else stays, so that it still opens the store for who has the password elsewhere. */
export function hidePassword(address: string): string {
  return address
    .replace(USER_PART, (_all, scheme: string, user: string) => `${scheme}${user.split(":")[0] ?? ""}@`)
    .replace(BARE_USER, (...[, scheme = "", user = "", rest = ""]: string[]) => {
      const at = rest.lastIndexOf("@");
      return `${scheme}${user}${at < 0 ? "" : rest.slice(at)}`;
    })
    .replace(PASSWORD_VALUE, "$1…");
}

/** Whether an address says a password, so that it is shown and handed on to nobody. */
export function hasPassword(address: string): boolean {
  return hidePassword(address) !== address;
}
