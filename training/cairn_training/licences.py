"""Recognises the licences under which a package may be mined, in its metadata and licence texts.

Only permissive licences count: weights are a work of statistics over the mined code, and a permissive licence
leaves no doubt that they may be shipped. A licence that is not understood is refused.
"""

import re

PERMISSIVE = {
    "MIT", "MIT-0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-3-Clause-Clear", "0BSD", "ISC", "Zlib", "Unlicense", "CC0-1.0", "BSL-1.0",
    "Python-2.0", "PSF-2.0", "HPND", "Unicode-3.0", "Unicode-DFS-2016", "BlueOak-1.0.0", "NCSA", "WTFPL", "X11", "Apache-2.0 WITH LLVM-exception",
    "PostgreSQL", "curl", "libpng-2.0", "MulanPSL-2.0",
}

# Names that authors of packages write instead of an SPDX identifier.
SPELLINGS = [
    (r"(the )?mit([ -]?(x11|expat))?( licen[sc]e)?|expat|mit licen[sc]ed?|licen[sc]e :: osi approved :: mit licen[sc]e", "MIT"),
    (r"(the )?apache([ -]|,)?( software)?( licen[sc]e)?,?[ -]*(version)?[ -]?v?(2|2\.0)?( licen[sc]e)?|licen[sc]e :: osi approved :: apache software licen[sc]e|asl[ -]?2\.0|apl2", "Apache-2.0"),
    (r"(new |modified |revised |the )?(3-clause )?(bsd)([ -]?3([ -]clause)?)?( |-)?(new|style|like|\(3-clause\))?( licen[sc]e)?(,? 3[ -]clause)?|licen[sc]e :: osi approved :: bsd licen[sc]e|bsd-3-clause-new|edl-1\.0|eclipse distribution licen[sc]e.*", "BSD-3-Clause"),
    (r"(simplified bsd|bsd[ -]2([ -]clause)?|2-clause bsd|freebsd)( licen[sc]e)?", "BSD-2-Clause"),
    (r"isc( licen[sc]e)?( \(iscl\))?|licen[sc]e :: osi approved :: isc licen[sc]e \(iscl\)", "ISC"),
    (r"(the )?unlicen[sc]e|licen[sc]e :: osi approved :: the unlicense \(unlicense\)|public[ -]domain|licen[sc]e :: public domain", "Unlicense"),
    (r"zlib([-/ ]libpng)?( licen[sc]e)?|licen[sc]e :: osi approved :: zlib/libpng licen[sc]e", "Zlib"),
    (r"boost([ -]software)?([ -]licen[sc]e)?([ -]1\.0)?|licen[sc]e :: osi approved :: boost software license 1\.0 \(bsl-1\.0\)", "BSL-1.0"),
    (r"psf|python software foundation( licen[sc]e)?|licen[sc]e :: osi approved :: python software foundation license", "PSF-2.0"),
    (r"licen[sc]e :: cc0 1\.0 universal.*|cc0", "CC0-1.0"),
    (r"bouncy castle licen[sc]e", "MIT"),
]

TEXTS = [
    (r"permission is hereby granted, free of charge, to any person obtaining a copy", "MIT"),
    (r"apache license\s+version 2\.0|licensed under the apache license,? version 2\.0|www\.apache\.org/licenses/license-2\.0", "Apache-2.0"),
    (r"redistribution and use in source and binary forms.{0,1200}(neither the name|names? of (its|the|any)|may not be used to endorse)", "BSD-3-Clause"),
    (r"redistribution and use in source and binary forms", "BSD-2-Clause"),
    (r"permission to use, copy, modify,? and(/or)? distribute this software", "ISC"),
    (r"this is free and unencumbered software", "Unlicense"),
    (r"boost software license", "BSL-1.0"),
    (r"this software is provided .as-is., without any express or implied", "Zlib"),
    (r"cc0 1\.0 universal", "CC0-1.0"),
]

REFUSED_TEXT = re.compile(
    r"gnu (lesser |library |affero )?general public licen|mozilla public licen[sc]e|business source licen|server side public|elastic licen[sc]e|commons clause|"
    r"eclipse public licen|common development and distribution|european union public|non-?commercial|polyform", re.I
)


def of_expression(expression: str) -> str | None:
    """Returns the permissive licence that an SPDX expression, a classifier or a hand-written name allows.
    Returns None if no known permissive licence is allowed."""
    text = re.sub(r"\s+", " ", expression.replace("(", " ( ").replace(")", " ) ")).strip() if " OR " in expression or " AND " in expression else expression.strip()
    if not text or len(text) > 120:
        return None
    if " AND " in text:
        parts = [of_expression(part.strip(" ()")) for part in text.split(" AND ")]
        return " AND ".join(dict.fromkeys(parts)) if all(parts) else None
    for part in re.split(r"\s+OR\s+|\s+or\s+|/(?=[A-Z])|;", text):
        part = part.strip(" ()")
        known = next((licence for licence in PERMISSIVE if licence.lower() == part.lower()), None)
        if known:
            return known
        for pattern, licence in SPELLINGS:
            if re.fullmatch(pattern, part, re.I):
                return licence
    return None


def of_text(text: str) -> str | None:
    """Returns the permissive licence whose text this is. Returns None if the text names any other licence."""
    head = re.sub(r"\s+", " ", re.sub(r"(?m)^\s*(//+|\*|#|;+)", " ", text))[:30000]
    if REFUSED_TEXT.search(head):
        return None
    return next((licence for pattern, licence in TEXTS if re.search(pattern, head, re.I)), None)
