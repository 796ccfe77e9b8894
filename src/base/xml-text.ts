/** Text inside XML, in content and in attributes. XML holds no control characters, not even as references. */
export function escapeXml(content: string): string {
  return content
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replaceAll(/\p{Surrogate}/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
