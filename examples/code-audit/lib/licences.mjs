/**
 * Owns what is known about licences: names from fields, names from recognised texts, and what a licence asks for.
 *
 * Groups: permissive, weak copyleft (files or library), strong copyleft (the whole work), network copyleft, restricted
 * (not open, non-commercial, or "UNLICENSED"), other (a name this table does not know), unknown (nothing found).
 * Of `A OR B` the mildest counts, of `A AND B` the strictest. This is a sorting aid, not legal advice.
 */

const GROUPS = [
  [
    "permissive",
    /^(?:MIT(?:-0)?|X11|ISC|0BSD|BSD(?:-[1234]-Clause.*)?|Apache(?:-2\.0|-1\.[01])?|Unlicense|CC0-1\.0|CC-BY-[34]\.0|WTFPL|Zlib|BlueOak-1\.0\.0|Python-2\.0|PSF-2\.0|BSL-1\.0|Artistic-2\.0|NCSA|PostgreSQL|Unicode(?:-DFS-2016|-3\.0)|OFL-1\.1|Ruby|PHP-3\.01|curl|HPND|AFL-[23]\.[01]|public domain|W3C.*)$/i,
  ],
  ["network copyleft", /^(?:AGPL-.*|SSPL-.*|OSL-3\.0|EUPL-.*)$/i],
  ["weak copyleft", /^(?:LGPL-.*|MPL-.*|EPL-.*|CDDL-.*|CPL-.*|MS-RL|CC-BY-SA-.*)$/i],
  ["strong copyleft", /^(?:GPL-.*|GPL)$/i],
  ["restricted", /^(?:UNLICENSED|BUSL-.*|CC-BY-NC.*|Elastic-.*|Commons-Clause|PolyForm.*|proprietary|commercial)$/i],
];

const STRICTNESS = [
  "permissive",
  "weak copyleft",
  "strong copyleft",
  "network copyleft",
  "restricted",
  "other",
  "unknown",
];

const TEXTS = [
  ["AGPL-3.0", /GNU AFFERO GENERAL PUBLIC LICENSE[\s\S]{0,80}Version 3/i],
  ["LGPL-3.0", /GNU LESSER GENERAL PUBLIC LICENSE[\s\S]{0,80}Version 3/i],
  ["LGPL-2.1", /GNU LESSER GENERAL PUBLIC LICENSE[\s\S]{0,80}Version 2\.1/i],
  ["GPL-3.0", /GNU GENERAL PUBLIC LICENSE[\s\S]{0,80}Version 3/i],
  ["GPL-2.0", /GNU GENERAL PUBLIC LICENSE[\s\S]{0,80}Version 2/i],
  ["MPL-2.0", /Mozilla Public License,? (?:Version|v\.?) ?2\.0/i],
  ["EPL-2.0", /Eclipse Public License\s*-?\s*v(?:ersion)? ?2\.0/i],
  ["Apache-2.0", /Apache License[\s\S]{0,60}Version 2\.0/i],
  ["BlueOak-1.0.0", /Blue Oak Model License/i],
  ["BSL-1.0", /Boost Software License - Version 1\.0/i],
  ["CC0-1.0", /CC0 1\.0 Universal/i],
  ["Unlicense", /This is free and unencumbered software released into the public domain/i],
  [
    "MIT",
    /Permission is hereby granted, free of charge,? to any person obtaining a copy[\s\S]{0,400}The above copyright notice|\bMIT License\b/i,
  ],
  ["MIT-0", /Permission is hereby granted, free of charge, to any person obtaining a copy/i],
  ["BSD-3-Clause", /Redistribution and use in source and binary forms[\s\S]{0,1200}Neither the name/i],
  ["BSD-2-Clause", /Redistribution and use in source and binary forms/i],
  [
    "0BSD",
    /Permission to use, copy, modify,? and\/or distribute this software for any purpose with or without fee is hereby granted\.\s*THE SOFTWARE/i,
  ],
  [
    "ISC",
    /Permission to use, copy, modify,? and\/?(?:or)? ?distribute this software for any purpose with or without fee is hereby granted/i,
  ],
  [
    "Zlib",
    /This software is provided ['"]?as-is['"]?, without any express or implied warranty[\s\S]{0,400}Altered source versions/i,
  ],
  ["WTFPL", /DO WHAT THE FUCK YOU WANT TO/i],
  ["PSF-2.0", /PYTHON SOFTWARE FOUNDATION LICENSE/i],
  ["OFL-1.1", /SIL OPEN FONT LICENSE/i],
];

/** The licence named by a manifest field of any of the usual shapes; empty when it names none. */
export function parseLicenceField(field) {
  if (typeof field === "string") return field.trim();
  if (Array.isArray(field)) {
    const names = field.map(parseLicenceField).filter(Boolean);
    return names.length > 1 ? `(${names.join(" OR ")})` : (names[0] ?? "");
  }
  if (field && typeof field === "object") return parseLicenceField(field.type ?? field.name ?? "");
  return "";
}

/** The licence whose text this is, or empty. */
export function recogniseLicenceText(text) {
  return TEXTS.find(([, pattern]) => pattern.test(text.slice(0, 20_000)))?.[0] ?? "";
}

/** Whether a file name is that of a licence text. */
export function isLicenceFile(name) {
  return (
    /^(?:un)?(?:licen[cs]e|copying)(?:[-._][\w.-]*)?$/i.test(name) &&
    !/\.(?:js|ts|cjs|mjs|json|map|html|css|py)$/i.test(name)
  );
}

/** The group of a licence expression. */
export function selectLicenceGroup(expression) {
  const text = expression.replace(/[()]/g, " ").trim();
  if (text === "") return "unknown";
  const pick = (parts, order) =>
    parts.map(selectLicenceGroup).sort((a, b) => order * (STRICTNESS.indexOf(a) - STRICTNESS.indexOf(b)))[0];
  const alternatives = text.split(/\s+OR\s+|\s*\/\s*/i);
  if (alternatives.length > 1) return pick(alternatives, 1);
  const joined = text.split(/\s+AND\s+/i);
  if (joined.length > 1) return pick(joined, -1);
  const name = text.replace(/\s+WITH\s+.*$/i, "").trim();
  return GROUPS.find(([, pattern]) => pattern.test(name))?.[0] ?? guessGroup(name);
}

/** Groups for the free wording found in old manifests. */
function guessGroup(name) {
  if (/affero/i.test(name)) return "network copyleft";
  if (/lesser|LGPL|mozilla/i.test(name)) return "weak copyleft";
  if (/\bGPL|gnu general/i.test(name)) return "strong copyleft";
  if (/^(?:the )?(?:MIT|BSD|apache|ISC|expat|public domain)\b/i.test(name)) return "permissive";
  return "other";
}
