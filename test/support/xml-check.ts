/** Whether a text is a well-formed XML document without a prologue: what a picture has to be. */

const NAME = "[A-Za-z][\\w:.-]*";
const TOKEN = new RegExp(
  `<(?<close>/)${NAME.replace("[", "(?<closed>[").replace("*", "*)")}>|<(?<open>${NAME})(?<attributes>(?:\\s+${NAME}="[^"<&]*(?:&(?:amp|lt|gt|quot);[^"<&]*)*")*)\\s*(?<self>/?)>|(?<text>(?:[^<&]|&(?:amp|lt|gt|quot);)+)`,
  "uy",
);
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;

/** Why it is none; nothing when it is. */
export function findXmlFault(xml: string): string | undefined {
  if (FORBIDDEN.test(xml)) return "it holds a character that XML forbids";
  const open: string[] = [];
  let roots = 0;
  let at = 0;
  while (at < xml.length) {
    TOKEN.lastIndex = at;
    const { groups, 0: token = "" } = TOKEN.exec(xml) ?? {};
    if (groups === undefined) return `it is broken at ${at}: ${xml.slice(at, at + 40)}`;
    at += token.length;
    if (groups["open"] !== undefined) {
      if (open.length === 0) roots += 1;
      if (groups["self"] === "") open.push(groups["open"]);
    } else if (groups["close"] !== undefined) {
      if (open.pop() !== groups["closed"]) return `it closes ${groups["closed"]} where it is not open`;
    } else if (open.length === 0 && token.trim() !== "") return `text outside of it: ${token}`;
  }
  return open.length > 0 || roots !== 1 ? `open: ${open.join(", ")}; roots: ${roots}` : undefined;
}
