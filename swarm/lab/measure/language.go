package measure

import (
	"strings"
	"unicode"
)

// foreign reports whether a comment is in another language than English. It
// decides by the script, and for Latin script by the small words of some
// languages. Text in quotes, names of the code, and names of people do not
// count.
func foreign(text string) bool {
	text = unquotedText(text)
	signs, other, english := 0, 0, 0
	for i, word := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || r != '_' && unicode.IsPunct(r) && r != '\'' && r != '-'
	}) {
		n := strange(word)
		switch {
		case n == 0 && plainWord(word):
			english++
		case n == 0, i > 0 && unicode.IsUpper([]rune(word)[0]): // such as Иван
		default:
			signs += n
			other += units(word, n)
		}
	}
	if signs >= 2 && 2*other >= english { // a single name in another script does not count
		return true
	}
	return fromLatin(plainWords(text))
}

// strange counts the letters of a word that are neither Latin nor single
// mathematical letters.
func strange(word string) int {
	n, greek := 0, 0
	for _, r := range word {
		switch {
		case !unicode.IsLetter(r) || unicode.Is(unicode.Latin, r) || r == 'µ' || unicode.Is(unicode.Lm, r) && r < 0x3000:
		case unicode.Is(unicode.Greek, r):
			greek++
		default:
			n++
		}
	}
	if greek > 2 {
		n += greek
	}
	return n
}

// units returns the number of words in a word with a number of strange letters:
// some scripts have no blanks between words.
func units(word string, strange int) int {
	if strings.ContainsFunc(word, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Khmer, unicode.Lao, unicode.Myanmar)
	}) {
		return (strange + 1) / 2
	}
	return 1
}

// plainWord tells whether a word is no name of the code: those have signs,
// digits, or large letters within.
func plainWord(word string) bool {
	return strings.ContainsFunc(word, unicode.IsLetter) && !strings.ContainsFunc(word, func(r rune) bool { return r == '_' || unicode.IsDigit(r) }) &&
		(strings.ToUpper(word) != word || len(word) == 1) && !strings.ContainsFunc(word[1:], unicode.IsUpper)
}

// unquotedText removes the text in quotes or backticks.
func unquotedText(text string) string {
	for _, mark := range []string{"`", `"`} {
		parts := strings.Split(text, mark)
		if len(parts) < 3 {
			continue
		}
		var b strings.Builder
		for i, part := range parts {
			if i%2 == 0 || i == len(parts)-1 {
				b.WriteString(part + " ")
			}
		}
		text = b.String()
	}
	return text
}

// fromLatin tells whether words are rather of another language: two at least
// that English has not, and more than those that it has.
func fromLatin(words []string) bool {
	known := func(list string) int {
		n := 0
		for _, w := range words {
			if strings.Contains(" "+list+" ", " "+w+" ") {
				n++
			}
		}
		return n
	}
	english := known("the a an is are and or of to in for with that this if not be from it by on as we when then return returns each all no new use used")
	for _, list := range []string{
		"der die das und ist nicht ein eine einen den dem des mit von für auf wird werden wenn sich auch zu bei nach alle oder keine über prüft gibt zurück berechnet ergebnis wert zurückgeben fügt",
		"le la les des un une est et pour dans avec que qui sur pas ne sont par du au aux si cette ce renvoie fonction vérifie liste calcule retourne ajoute supprime valeur résultat",
		"el los las una uno es para con que por del se no en como si son esta este al devuelve función lista cada más calcula suma valor agrega elimina",
		"il lo gli una è per con che di del della non si nel sono questo questa alla dei restituisce funzione",
		"os uma um é para com que não da em por são esta este ao retorna função cada calcula soma valor",
		"jest nie się dla oraz przez który która zwraca funkcja jeśli oblicza sumę",
		"ve bir bu için ile değil olarak döndürür her eğer",
		"het een van niet voor dat wordt geeft deze naar aantal",
		"och är inte för som till från när alla värde returnerar beräknar",
		"yang dan untuk tidak dengan dari adalah jika mengembalikan nilai",
		"các của là và một cho không giá trị trả về tính hàm",
	} {
		if n := known(list); n >= 2 && n > english {
			return true
		}
	}
	return false
}
