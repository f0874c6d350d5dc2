package measure

import (
	"strings"
	"unicode"
)

// foreign tells whether a comment is in another language than English: by its
// script, and where that is Latin by the small words of some languages.
func foreign(text string) bool {
	letters, other := 0, 0
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		// Greek is left out of this: single letters of it are mathematics.
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Cyrillic,
			unicode.Arabic, unicode.Hebrew, unicode.Thai, unicode.Devanagari, unicode.Bengali, unicode.Tamil) {
			other++
		}
	}
	if letters == 0 {
		return false
	}
	if other >= 2 && 4*other >= letters { // one name in another script is none
		return true
	}
	return fromLatin(plainWords(text))
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
		"der die das und ist nicht ein eine einen den dem des mit von für auf wird werden wenn sich auch zu bei nach alle oder keine über prüft gibt",
		"le la les des un une est et pour dans avec que qui sur pas ne sont par du au aux si cette ce renvoie fonction vérifie liste",
		"el los las una uno y es para con que por del se no en como si son esta este al devuelve función lista cada más",
		"il lo gli una è per con che di del della non si nel sono questo questa alla dei restituisce funzione",
		"o os as uma um é para com que não de do da em se por são esta este ao retorna função cada mais",
		"jest nie się na do dla oraz przez który która zwraca funkcja jeśli z w i",
		"ve bir bu için ile değil olarak döndürür her eğer",
		"het een van niet voor met op dat die wordt als geeft deze",
	} {
		if n := known(list); n >= 2 && n > english {
			return true
		}
	}
	return false
}
