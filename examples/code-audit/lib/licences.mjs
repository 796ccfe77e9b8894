/**
 * What is known about licences: names from fields, names from recognised texts, and what a licence asks for.
 *
 * Groups: permissive, weak copyleft (files or library), strong copyleft (the whole work), network copyleft, restricted
 * (not open, non-commercial, or "UNLICENSED"), other (a name that is no licence we know), unknown (nothing found). Of `A OR B`
 * the mildest counts, of `A AND B` the strictest. This is a sorting aid, not legal advice.
 */
import { readdirSync } from "node:fs";
import correct from "spdx-correct";
import parse from "spdx-expression-parse";
import { absolutePath, joinPath } from "./byte-paths.mjs";
import { readSmallText } from "./files.mjs";

const GROUPS = [
  [
    "permissive",
    /^(?:MIT|X11|ISC|0BSD|BSD-|Apache-|Unlicense|CC0-|CC-BY-\d|WTFPL|Zlib|BlueOak-|Python-|PSF-|BSL-|Artistic-2|NCSA|PostgreSQL|Unicode|OFL-|Ruby|PHP-|curl|HPND|AFL-|W3C|UPL-|MulanPSL-)/,
  ],
  ["weak copyleft", /^(?:LGPL-|MPL-|EPL-|CDDL-|CPL-|MS-RL|CC-BY-SA-|Artistic-1)/],
  ["strong copyleft", /^GPL-/],
  ["network copyleft", /^(?:AGPL-|SSPL-|OSL-|EUPL-)/],
  ["restricted", /^(?:UNLICENSED$|BUSL-|CC-BY-NC|Elastic-|PolyForm|proprietary|commercial)/i],
];
const STRICTNESS = [...GROUPS.map(([group]) => group), "other", "unknown"];

const TEXTS = [
  ["AGPL-3.0", /GNU AFFERO GENERAL PUBLIC LICENSE\s{1,80}Version 3/i],
  ["LGPL-3.0", /GNU LESSER GENERAL PUBLIC LICENSE\s{1,80}Version 3/i],
  ["LGPL-2.1", /GNU LESSER GENERAL PUBLIC LICENSE\s{1,80}Version 2\.1/i],
  ["GPL-3.0", /GNU GENERAL PUBLIC LICENSE\s{1,80}Version 3/i],
  ["GPL-2.0", /GNU GENERAL PUBLIC LICENSE\s{1,80}Version 2/i],
  ["MPL-2.0", /Mozilla Public License,? (?:Version|v\.?) ?2\.0/i],
  ["EPL-2.0", /Eclipse Public License\s*-?\s*v(?:ersion)? ?2\.0/i],
  ["Apache-2.0", /Apache License\s{1,60}Version 2\.0/i],
  ["BlueOak-1.0.0", /Blue Oak Model License/i],
  ["BSL-1.0", /Boost Software License - Version 1\.0/i],
  ["CC0-1.0", /CC0 1\.0 Universal/i],
  ["Unlicense", /This is free and unencumbered software released into the public domain/i],
  [
    "MIT",
    /Permission is hereby granted, free of charge,? to any person obtaining a copy[^]{0,400}above copyright notice|\bMIT License\b/i,
  ],
  ["MIT-0", /Permission is hereby granted, free of charge, to any person obtaining a copy/i],
  [
    "curl",
    /Permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies\.[^]{0,900}shall not be used in advertising/i,
  ],
  ["BSD-3-Clause", /Redistribution and use in source and binary forms[^]{0,1200}Neither the name/i],
  ["BSD-2-Clause", /Redistribution and use in source and binary forms/i],
  [
    "0BSD",
    /Permission to use, copy, modify,? and\/or distribute this software for any purpose with or without fee is hereby granted\. THE SOFTWARE/i,
  ],
  [
    "ISC",
    /Permission to use, copy, modify,? and\/?(?:or)? ?distribute this software for any purpose with or without fee is hereby granted/i,
  ],
  [
    "Zlib",
    /This software is provided ['"]?as-is['"]?, without any express or implied warranty[^]{0,500}Altered source versions/i,
  ],
  ["PSF-2.0", /PYTHON SOFTWARE FOUNDATION LICENSE/i],
  ["OFL-1.1", /SIL OPEN FONT LICENSE/i],
];
const LICENCE_FILE = /^(?:un)?(?:licen[cs]e|copying)(?:[-._][\w.-]*)?$/i;
const NO_TEXT = /\.(?:js|ts|cjs|mjs|json|map|html|css|py)$/i;
const LICENCE_BYTES_MAX = 512 * 1024;

/** The licence that a manifest's field of any of the usual shapes names; empty when it names none. */
export function parseLicenceField(field) {
  if (typeof field === "string") return field.trim();
  if (field === null || typeof field !== "object") return "";
  if (!Array.isArray(field)) return parseLicenceField(field.type ?? field.name ?? field.text ?? "");
  const names = field.map(parseLicenceField).filter(Boolean);
  return names.length > 1 ? `(${names.join(" OR ")})` : (names[0] ?? "");
}

/** The licence of the package in a folder, by its manifest's field or a licence text: `{licence, source}`, empty when there is none. */
export function findLicence(root, folder, field) {
  if (field && !/^see licen[cs]e/i.test(field)) return { licence: field, source: "manifest" };
  const recognised = readLicenceText(root, folder);
  if (recognised) return { licence: recognised, source: "licence text" };
  return { licence: field, source: field ? "manifest" : "" };
}

function readLicenceText(root, folder) {
  let names;
  try {
    names = readdirSync(absolutePath(root, folder), { encoding: "buffer" }).map((name) => name.toString("latin1"));
  } catch {
    return "";
  }
  for (const name of names.filter((entry) => LICENCE_FILE.test(entry) && !NO_TEXT.test(entry)).sort()) {
    const { text = "" } = readSmallText(root, joinPath(folder, name), LICENCE_BYTES_MAX);
    const start = text.slice(0, 20_000).replace(/\s+/g, " ");
    const licence = TEXTS.find(([, pattern]) => pattern.test(start));
    if (licence) return licence[0];
  }
  return "";
}

/** The group of a licence expression, or of the free wording of an old manifest. */
export function selectLicenceGroup(expression) {
  if (expression === "") return "unknown";
  try {
    return groupOf(parse(expression.replace(/\s*\/\s*/g, " OR ")));
  } catch {
    const restricted = GROUPS.at(-1)[1].test(expression) && "restricted";
    return restricted || groupOfName(correct(expression) ?? guess(expression));
  }
}

function groupOf({ license, conjunction, left, right }) {
  if (license !== undefined) return groupOfName(license);
  const [mild, strict] = [groupOf(left), groupOf(right)].sort((a, b) => STRICTNESS.indexOf(a) - STRICTNESS.indexOf(b));
  return conjunction === "or" ? mild : strict;
}

const groupOfName = (name) => GROUPS.find(([, pattern]) => pattern.test(name))?.[0] ?? "other";

/** A licence of the kind that free wording speaks of, where it is too free to be corrected. */
function guess(text) {
  if (/affero/i.test(text)) return "AGPL-3.0";
  if (/lesser|LGPL|mozilla/i.test(text)) return "LGPL-3.0";
  if (/\bGPL|gnu general/i.test(text)) return "GPL-3.0";
  return /^(?:the )?(?:MIT|BSD|apache|ISC|expat|public domain)\b/i.test(text) ? "MIT" : text;
}
