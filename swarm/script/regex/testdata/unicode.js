// Writes unicode.txt, the properties of characters, from those of node:
//
//	node testdata/unicode.js > unicode.txt
//
// A line has the kind of a property (gc, sc, scx or binary), its names, and the
// bounds of its ranges as differences in base 36, all between tabs.
'use strict';

const categories = `Lu Uppercase_Letter;Ll Lowercase_Letter;Lt Titlecase_Letter;LC Cased_Letter;Lm Modifier_Letter;
Lo Other_Letter;L Letter;Mn Nonspacing_Mark;Mc Spacing_Mark;Me Enclosing_Mark;M Mark Combining_Mark;
Nd Decimal_Number digit;Nl Letter_Number;No Other_Number;N Number;Pc Connector_Punctuation;Pd Dash_Punctuation;
Ps Open_Punctuation;Pe Close_Punctuation;Pi Initial_Punctuation;Pf Final_Punctuation;Po Other_Punctuation;
P Punctuation punct;Sm Math_Symbol;Sc Currency_Symbol;Sk Modifier_Symbol;So Other_Symbol;S Symbol;
Zs Space_Separator;Zl Line_Separator;Zp Paragraph_Separator;Z Separator;Cc Control cntrl;Cf Format;Cs Surrogate;
Co Private_Use;Cn Unassigned;C Other`;

const binary = `ASCII;ASCII_Hex_Digit AHex;Alphabetic Alpha;Any;Assigned;Bidi_Control Bidi_C;Bidi_Mirrored Bidi_M;
Case_Ignorable CI;Cased;Changes_When_Casefolded CWCF;Changes_When_Casemapped CWCM;Changes_When_Lowercased CWL;
Changes_When_NFKC_Casefolded CWKCF;Changes_When_Titlecased CWT;Changes_When_Uppercased CWU;Dash;
Default_Ignorable_Code_Point DI;Deprecated Dep;Diacritic Dia;Emoji;Emoji_Component EComp;Emoji_Modifier EMod;
Emoji_Modifier_Base EBase;Emoji_Presentation EPres;Extended_Pictographic ExtPict;Extender Ext;Grapheme_Base Gr_Base;
Grapheme_Extend Gr_Ext;Hex_Digit Hex;IDS_Binary_Operator IDSB;IDS_Trinary_Operator IDST;ID_Continue IDC;ID_Start IDS;
Ideographic Ideo;Join_Control Join_C;Logical_Order_Exception LOE;Lowercase Lower;Math;Noncharacter_Code_Point NChar;
Pattern_Syntax Pat_Syn;Pattern_White_Space Pat_WS;Quotation_Mark QMark;Radical;Regional_Indicator RI;
Sentence_Terminal STerm;Soft_Dotted SD;Terminal_Punctuation Term;Unified_Ideograph UIdeo;Uppercase Upper;
Variation_Selector VS;White_Space space;XID_Continue XIDC;XID_Start XIDS`;

const lists = (text) => text.split(';').map((names) => names.trim().split(/\s+/));

const valid = (source) => {
  try {
    return new RegExp(source, 'u');
  } catch {
    return null;
  }
};

const ranges = (re) => {
  const out = [];
  let last = 0;
  let inside = false;
  for (let c = 0; c <= 0x110000; c += 1) {
    const now = c <= 0x10ffff && re.test(String.fromCodePoint(c));
    if (now === inside) continue;
    out.push((c - last).toString(36));
    last = c;
    inside = now;
  }
  return out.join(' ');
};

// scripts gives the names of each script. Scripts share no character, so the
// first one tells which script a name means.
const scripts = (longNames) => {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const short = letters.flatMap((a) => letters.flatMap((b) => letters.flatMap((c) => letters.map((d) =>
    a.toUpperCase() + b + c + d))));
  const found = new Map();
  for (const name of new Set([...short, ...longNames])) {
    const re = valid(`^\\p{sc=${name}}$`);
    if (!re) continue;
    let first = 0;
    while (first <= 0x10ffff && !re.test(String.fromCodePoint(first))) first += 1;
    found.set(first, [...(found.get(first) ?? []), name]);
  }
  return found;
};

const line = (kind, names, has) => console.log([kind, names.join(' '), has].join('\t'));
for (const names of lists(categories)) line('gc', names, ranges(valid(`^\\p{gc=${names[0]}}$`)));
for (const names of lists(binary)) line('binary', names, ranges(valid(`^\\p{${names[0]}}$`)));
// The long names of scripts are arguments: those of the package unicode of Go,
// and newer ones.
for (const names of scripts(process.argv.slice(2)).values()) {
  const has = ranges(valid(`^\\p{sc=${names[0]}}$`));
  const more = ranges(valid(`^\\p{scx=${names[0]}}$`));
  line('sc', names, has);
  if (more !== has) line('scx', names, more);
}
