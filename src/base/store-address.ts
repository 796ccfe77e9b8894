/** Addresses of stores as people may see them. */

const USER_PART = /^([a-z]+:\/\/)([^/?#]*)@/i;
const PASSWORD_VALUE = /([?&]password=)[^&#]*/gi;

/** The address without a password; all else stays, so that it still opens the store for who has the password elsewhere. */
export function hidePassword(address: string): string {
  return address
    .replace(USER_PART, (_all, scheme: string, user: string) => `${scheme}${user.split(":")[0] ?? ""}@`)
    .replace(PASSWORD_VALUE, "$1…");
}
