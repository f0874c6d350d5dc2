package script

import (
	"errors"
	"regexp"

	"github.com/dop251/goja/parser"
)

// misread says what is wrong with a text that the parser refused. Only its
// first error counts: the rest mostly follows from that.
func (r reading) misread(err error) error {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return r.fault(CodeSyntax, 0, "%s", err)
	}
	first := list[0]
	column := first.Position.Column
	if first.Position.Line == 1 {
		column -= len(r.before)
	}
	at := r.offset(first.Position.Line, column)
	// The parser knows only where it could not go on, and not which bracket
	// is to blame.
	if r.stray >= 0 && r.stray <= at {
		return r.fault(CodeSyntax, r.stray, "unexpected %c", r.Text[r.stray])
	}
	if n := len(r.open); n > 0 && r.stray < 0 && at >= len(r.Text) {
		begin := r.open[n-1].at
		return r.fault(CodeSyntax, begin, "this %c is never closed", r.Text[begin])
	}
	if rest := r.Text[at:]; r.library && isExport.MatchString(rest) && !isTypeImport.MatchString(rest) {
		return r.fault(CodeSyntax, at, notExported)
	}
	if hint := r.hint(at); hint != "" {
		return r.fault(CodeSyntax, at, "%s", hint)
	}
	return r.fault(CodeSyntax, at, "%s", lower(first.Message))
}

// rule says what is to be thought of a place where the parser stopped.
type rule struct {
	before *regexp.Regexp // what ends there; nil is anything
	after  *regexp.Regexp // what begins there; nil is anything
	hint   string
}

func (r rule) fits(before, after string) bool {
	return (r.before == nil || r.before.MatchString(before)) && (r.after == nil || r.after.MatchString(after))
}

const (
	typescript = "TypeScript: a script is plain JavaScript; drop the "
	noModules  = "a script has no modules: everything it may use is a global"
)

// The texts around the place where the parser stopped. Only what no other
// mistake looks like is called TypeScript.
var (
	endsDeclared   = regexp.MustCompile(`\b(?:const|let|var)\s+(?:[\w$]+\s*!?|\{[^{}]*\}|\[[^\[\]]*\])\s*$`)
	endsParameter  = regexp.MustCompile(`[(,]\s*(?:\.\.\.)?[\w$]+\s*$`)
	endsOptional   = regexp.MustCompile(`[(,]\s*[\w$]+\s*\?\s*$`)
	endsCondition  = regexp.MustCompile(`\b(?:if|elif|while|for|switch|case)\s*\(.*\)\s*$`)
	endsParameters = regexp.MustCompile(`\)\s*$`)
	endsOperand    = regexp.MustCompile("[\\w$)\\]}\"'`]\\s*$")
	endsKeyword    = regexp.MustCompile(`\b(?:interface|namespace|declare|abstract|private|public|protected|readonly)\s+$`)
	endsAlias      = regexp.MustCompile(`(?:^|[;{}\n])\s*type\s+$`)
	endsNamed      = regexp.MustCompile(`\b(?:function\s*\*?\s*[\w$]+|class\s+[\w$]+)\s*$`)
	endsMade       = regexp.MustCompile(`\bnew\s+[\w$.]+\s*<[^()]*$`)
	endsAssigned   = regexp.MustCompile(`[=(,]\s*(?:async\s*)?$`)
	endsAwait      = regexp.MustCompile(`\bawait\s+$`)
	endsFor        = regexp.MustCompile(`\bfor\s+$`)

	isType       = regexp.MustCompile(`^:\s*[\w$"'{(\[]`)
	isPlainType  = regexp.MustCompile(`^:\s*(?:(?:string|number|boolean|any|unknown|void|never|object)\b|[A-Z][\w$.]*(?:\s*[<,)=|]|\[\])|[\w$.]+\[\]|\{[^{}]*\}\s*\)\s*(?:=>|\{))`)
	isResult     = regexp.MustCompile(`^:\s*[\w$][\w$.<>\[\]|, {}:;]*?(?:=>|\{)`)
	isCast       = regexp.MustCompile(`^(?:as|satisfies)\s+[\w$"'{(\[]`)
	isWordAhead  = regexp.MustCompile(`^[\w$]`)
	isAlias      = regexp.MustCompile(`^[\w$]+\s*(?:<[^>]*>)?\s*=`)
	isParameters = regexp.MustCompile(`^<\s*[A-Za-z_$][^()]*>\s*[({]`)
	isNonNull    = regexp.MustCompile(`^!\s*[.,;)\[\n]`)
	isMade       = regexp.MustCompile(`^>+\s*\(`)
	isOptional   = regexp.MustCompile(`^\?\s*:`)
	isEnum       = regexp.MustCompile(`^enum\s+[\w$]+\s*\{`)
	isTypeImport = regexp.MustCompile(`^(?:import|export)\s+(?:type|interface|enum|declare|namespace|abstract)\b`)
	isDynamic    = regexp.MustCompile(`^import\s*\(`)
	isImport     = regexp.MustCompile(`^import\b`)
	isExportMeta = regexp.MustCompile(`^export\s+const\s+meta\b`)
	isExportVar  = regexp.MustCompile(`^export\s+(?:let|var)\s+meta\b`)
	isDefault    = regexp.MustCompile(`^export\s+default\b`)
	isExport     = regexp.MustCompile(`^export\b`)
	isAwait      = regexp.MustCompile(`^await\b`)
)

func rules() []rule {
	return []rule{
		{nil, isTypeImport, typescript + "types"},
		{nil, isDynamic, "import() is not there: " + noModules},
		{nil, isImport, "import is not there: " + noModules},
		{nil, isExportMeta, "export const meta is the first statement of a script: only comments may stand before it"},
		{nil, isExportVar, "meta is declared by export const meta = {…}"},
		{nil, isDefault, "a script has no default export: it is the body itself, and what it returns is the result"},
		{nil, isExport, "a script exports nothing but const meta"},
		{endsFor, isAwait, "for await is not there: await each promise in a plain for loop"},
		{endsAwait, isWordAhead, "await stands in a function that is not async: write async in front of its parameters"},
		{endsDeclared, isType, typescript + "type annotation"},
		{endsParameter, isPlainType, typescript + "type annotation"},
		{endsParameter, isOptional, typescript + "type annotation"},
		{endsOptional, isType, typescript + "type annotation"},
		{endsCondition, nil, ""},
		{endsParameters, isResult, typescript + "type annotation"},
		{endsOperand, isCast, typescript + "type assertion"},
		{endsOperand, isNonNull, typescript + "non-null assertion"},
		{endsKeyword, isWordAhead, typescript + "declaration"},
		{endsAlias, isAlias, typescript + "declaration"},
		{nil, isEnum, typescript + "enum"},
		{endsNamed, isParameters, typescript + "type parameters"},
		{endsAssigned, isParameters, typescript + "type parameters"},
		{endsMade, isMade, typescript + "type arguments"},
	}
}

// hint says what is wrong at a place where the parser stopped, where the text
// around it tells.
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
