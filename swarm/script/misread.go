package script

import (
	"errors"
	"regexp"

	"github.com/dop251/goja/parser"
)

// misread describes the fault of a text that the parser refused. Only the first
// error counts, because the rest mostly follows from it.
func (r *reading) misread(err error) error {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return r.fault(CodeSyntax, 0, "%s", err)
	}
	first := list[0]
	given := Source{Text: r.before + r.text}
	at := r.origin(given.offset(first.Position.Line, first.Position.Column))
	// The parser knows only where it could not go on, and not which bracket
	// is to blame.
	if r.stray >= 0 && r.stray <= at {
		return r.fault(CodeSyntax, r.stray, "unexpected %c", r.Text[r.stray])
	}
	if n := len(r.open); n > 0 && r.stray < 0 && at >= len(r.Text) {
		begin := r.open[n-1].at
		return r.fault(CodeSyntax, begin, "this %c is never closed", r.Text[begin])
	}
	if rest := r.Text[at:]; r.library && fits(isExport, rest) && !fits(isTypeImport, rest) {
		return r.fault(CodeSyntax, at, notExported)
	}
	if hint := r.hint(at); hint != "" {
		return r.fault(CodeSyntax, at, "%s", hint)
	}
	return r.fault(CodeSyntax, at, "%s", lower(first.Message))
}

// rule is a hint for a place where the parser stopped.
type rule struct {
	before string // the text that ends there; empty is anything
	after  string // the text that begins there; empty is anything
	hint   string
}

func (r rule) fits(before, after string) bool {
	return fits(r.before, before) && fits(r.after, after)
}

// fits reports whether a text matches a pattern; an empty pattern matches
// anything.
func fits(pattern, text string) bool {
	return pattern == "" || regexp.MustCompile(pattern).MatchString(text)
}

const (
	typescript = "TypeScript: a script is plain JavaScript; drop the "
	noModules  = "a script has no modules: everything it may use is a global"
)

// The texts around the place where the parser stopped. Only a text that
// resembles no other mistake is called TypeScript.
//
// They are compiled only after a parser has stopped. Otherwise every start of
// the program would wait for that.
const (
	endsDeclared   = `\b(?:const|let|var)\s+(?:[\w$]+\s*!?|\{[^{}]*\}|\[[^\[\]]*\])\s*$`
	endsParameter  = `[(,]\s*(?:\.\.\.)?[\w$]+\s*$`
	endsOptional   = `[(,]\s*[\w$]+\s*\?\s*$`
	endsCondition  = `\b(?:if|elif|while|for|switch|case)\s*\(.*\)\s*$`
	endsParameters = `\)\s*$`
	endsOperand    = "[\\w$)\\]}\"'`]\\s*$"
	endsKeyword    = `\b(?:interface|namespace|declare|abstract|private|public|protected|readonly)\s+$`
	endsAlias      = `(?:^|[;{}\n])\s*type\s+$`
	endsNamed      = `\b(?:function\s*\*?\s*[\w$]+|class\s+[\w$]+)\s*$`
	endsMade       = `\bnew\s+[\w$.]+\s*<[^()]*$`
	endsAssigned   = `[=(,]\s*(?:async\s*)?$`
	endsAwait      = `\bawait\s+$`

	isType       = `^:\s*[\w$"'{(\[]`
	isPlainType  = `^:\s*(?:(?:string|number|boolean|any|unknown|void|never|object)\b|[A-Z][\w$.]*(?:\s*[<,)=|]|\[\])|[\w$.]+\[\]|\{[^{}]*\}\s*\)\s*(?:=>|\{))`
	isResult     = `^:\s*[\w$][\w$.<>\[\]|, {}:;]*?(?:=>|\{)`
	isCast       = `^(?:as|satisfies)\s+[\w$"'{(\[]`
	isWordAhead  = `^[\w$]`
	isAlias      = `^[\w$]+\s*(?:<[^>]*>)?\s*=`
	isParameters = `^<\s*[A-Za-z_$][^()]*>\s*[({]`
	isNonNull    = `^!\s*[.,;)\[\n]`
	isMade       = `^>+\s*\(`
	isOptional   = `^\?\s*:`
	isEnum       = `^enum\s+[\w$]+\s*\{`
	isTypeImport = `^(?:import|export)\s+(?:type|interface|enum|declare|namespace|abstract)\b`
	isDynamic    = `^import\s*\(`
	isImport     = `^import\b`
	isExportMeta = `^export\s+const\s+meta\b`
	isExportVar  = `^export\s+(?:let|var)\s+meta\b`
	isDefault    = `^export\s+default\b`
	isExport     = `^export\b`
)

func rules() []rule {
	return []rule{
		{"", isTypeImport, typescript + "types"},
		{"", isDynamic, "import() is not there: " + noModules},
		{"", isImport, "import is not there: " + noModules},
		{"", isExportMeta, "export const meta is the first statement of a script: only comments may stand before it"},
		{"", isExportVar, "meta is declared by export const meta = {…}"},
		{"", isDefault, "a script has no default export: it is the body itself, and what it returns is the result"},
		{"", isExport, "a script exports nothing but const meta"},
		{endsAwait, isWordAhead, "await stands in a function that is not async: write async in front of its parameters"},
		{endsDeclared, isType, typescript + "type annotation"},
		{endsParameter, isPlainType, typescript + "type annotation"},
		{endsParameter, isOptional, typescript + "type annotation"},
		{endsOptional, isType, typescript + "type annotation"},
		{endsCondition, "", ""},
		{endsParameters, isResult, typescript + "type annotation"},
		{endsOperand, isCast, typescript + "type assertion"},
		{endsOperand, isNonNull, typescript + "non-null assertion"},
		{endsKeyword, isWordAhead, typescript + "declaration"},
		{endsAlias, isAlias, typescript + "declaration"},
		{"", isEnum, typescript + "enum"},
		{endsNamed, isParameters, typescript + "type parameters"},
		{endsAssigned, isParameters, typescript + "type parameters"},
		{endsMade, isMade, typescript + "type arguments"},
	}
}

// hint returns the fault at a place where the parser stopped, if the text
// around it shows the fault.
func (src Source) hint(at int) string {
	before := src.Text[max(0, at-mostLine):at]
	after := src.Text[at:min(len(src.Text), at+mostLine)]
	for _, r := range rules() {
		if r.fits(before, after) {
			return r.hint
		}
	}
	return ""
}
