package measure

import (
	"strings"
	"unicode"

	"agentswarm/swarm/event"
)

// fences separates prose from the text between lines of ```.
func fences(text string) (prose string, blocks []string) {
	var out, block strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			if inside {
				blocks = append(blocks, block.String())
				block.Reset()
			}
			inside = !inside
			out.WriteString("\n")
			continue
		}
		if inside {
			block.WriteString(line)
		} else {
			out.WriteString(line)
		}
	}
	if block.Len() > 0 {
		blocks = append(blocks, block.String())
	}
	return out.String(), blocks
}

// sentences parts prose at its lines, and at marks that a blank follows.
func sentences(prose string) []string {
	var all []string
	for line := range strings.Lines(prose) {
		line = strings.TrimLeft(strings.TrimSpace(line), "#>-*•0123456789. \t")
		start := 0
		runes := []rune(line)
		for i, r := range runes {
			ends := strings.ContainsRune(".!?;", r) && (i+1 == len(runes) || unicode.IsSpace(runes[i+1])) || strings.ContainsRune("。！？", r)
			if ends {
				all = append(all, strings.TrimSpace(string(runes[start:i+1])))
				start = i + 1
			}
		}
		if rest := strings.TrimSpace(string(runes[start:])); rest != "" {
			all = append(all, rest)
		}
	}
	return all
}

// plainWords returns the words of a text without marks, in small letters. In a
// script without blanks between words each sign is a word.
func plainWords(text string) []string {
	var all []string
	var b strings.Builder
	flush := func() {
		if word := strings.Trim(b.String(), "_"); word != "" { // _so_ is written aslant
			all = append(all, word)
		}
		b.Reset()
	}
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r):
			flush()
			all = append(all, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			b.WriteRune(unicode.ToLower(r))
		case r == '\'' || r == '’':
			if b.Len() > 0 {
				b.WriteRune('\'')
			}
		default:
			flush()
		}
	}
	flush()
	return all
}

// responseLength counts the words of the answer.
func responseLength(w *Work) (float64, bool) { return float64(len(plainWords(w.Answer))), true }

// opening returns the beginning of the answer.
func opening(answer string, most int) []string {
	prose, _ := fences(answer)
	all := sentences(prose)
	return all[:min(most, len(all))]
}

// repeatedQuestion is which part of the runs of three words in the first two
// sentences of the answer stands in the task.
func repeatedQuestion(w *Work) (float64, bool) {
	const length = 3
	asked := map[string]bool{}
	words := plainWords(w.Prompt)
	for i := 0; i+length <= len(words); i++ {
		asked[strings.Join(words[i:i+length], " ")] = true
	}
	same, all := 0, 0
	for _, s := range opening(w.Answer, 2) {
		said := plainWords(s)
		again := restates(said)
		for i := 0; i+length <= len(said); i++ {
			all++
			if again || asked[strings.Join(said[i:i+length], " ")] {
				same++
			}
		}
	}
	if all == 0 {
		return 0, true
	}
	return float64(same) / float64(all), true
}

// restates reports whether a sentence restates the request, by its first words.
func restates(said []string) bool {
	low := strings.TrimPrefix(strings.Join(said, " ")+" ", "so ")
	for _, start := range []string{
		"you want ", "you'd like ", "you would like ", "you asked ", "you've asked ", "you have asked ", "you are asking ", "you're asking ", "you are looking to ", "you're looking to ",
		"your question ", "your request ", "your task ", "the question is ", "the request is ", "the task is ", "the task here is ", "i understand you ", "i understand that you ",
		"as i understand ", "to restate ", "to summarize your ",
	} {
		if strings.HasPrefix(low, start) {
			return true
		}
	}
	return false
}

// bannedOpener tells whether the answer opens with praise or filler.
func bannedOpener(w *Work) (float64, bool) {
	first := opening(w.Answer, 1)
	if len(first) == 0 {
		return 0, true
	}
	if strings.HasPrefix(first[0], "`") { // the name of a thing, such as `ok`
		return 0, true
	}
	said := strings.Join(plainWords(first[0]), " ") + " "
	for _, banned := range []string{
		"great ", "good question", "excellent", "certainly", "sure ", "of course", "absolutely", "definitely", "happy to", "i'd be happy", "i’d be happy", "i'm happy",
		"i would be happy", "glad to", "i'd be glad", "thanks for", "thank you", "no problem", "got it", "understood", "alright", "all right", "okay ", "ok ", "perfect ",
		"awesome", "wonderful", "what a great", "what a good", "what a nice", "what a wonderful", "what a lovely", "what a fun", "what a fantastic", "what an excellent", "what an interesting", "what an amazing", "that's a great", "that's an excellent", "that's a good", "as an ai", "my pleasure", "i hope", "i understand", "you're right", "you are right",
	} {
		if strings.HasPrefix(said, banned) {
			return 1, true
		}
	}
	return 0, true
}

// announcements counts the sentences of all texts that announce the next step.
func announcements(w *Work) (float64, bool) {
	said := []string{w.Answer}
	for _, e := range w.Events {
		if t, ok := e.(*event.Text); ok && strings.TrimSpace(t.Text) != strings.TrimSpace(w.Answer) {
			said = append(said, t.Text)
		}
	}
	n := 0
	for _, text := range said {
		prose, _ := fences(text)
		for _, s := range sentences(prose) {
			if announces(s) {
				n++
			}
		}
	}
	return float64(n), true
}

func announces(s string) bool {
	low := strings.Join(plainWords(s), " ") + " "
	leads := []string{"now ", "next ", "first ", "then ", "finally ", "so ", "ok ", "okay ", "great ", "good ", "alright ", "sure ", "right ", "well ", "perfect ", "and "}
	for before := ""; before != low; { // there may be several
		before = low
		for _, lead := range leads {
			low = strings.TrimPrefix(low, lead)
		}
	}
	if strings.HasPrefix(low, "let me know ") { // which asks
		return false
	}
	for _, start := range []string{
		"i'll ", "i’ll ", "i will ", "i'm going to ", "i am going to ", "let me ", "let's ", "we'll ", "we will ", "i need to ", "i plan to ", "i want to ", "i should ",
		"my plan ", "here's my plan", "here is my plan", "here's the plan", "here is the plan", "the plan ", "plan ", "step 1", "step one", "my approach ", "my next step", "the next step",
	} {
		if strings.HasPrefix(low, start) {
			return true
		}
	}
	return false
}

// caveats counts sentences of advice and warning in the answer.
func caveats(w *Work) (float64, bool) {
	prose, _ := fences(w.Answer)
	n := 0
	for _, s := range sentences(prose) {
		if has(" "+strings.ToLower(strings.ReplaceAll(s, "’", "'"))+" ",
			"should note", "please note", "worth noting", "note that", "be careful", "be aware", "keep in mind", "important to note", "it's important", "it is important", "make sure to", "make sure you",
			"i'd recommend", "i recommend", "i would recommend", "i strongly", "you should also", "you may want to", "you might want to", " consider adding", " consider using", " please consider ", " should consider ", " want to consider ",
			"security implication", "security consideration", "security best", "best practice", "with caution", "caution:", "warning:", "disclaimer", "before running this", "before using this", "at your own risk", "back up your",
			"in a production", "in production", " responsibly", "are responsible for", "always test", "double-check", "sensitive data", "never share", "untrusted input", "potential risk") {
			n++
		}
	}
	return float64(n), true
}
