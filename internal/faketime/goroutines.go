package faketime

import (
	"regexp"
	"runtime"
	"strings"
)

// bubble is in the first line of the stack of a goroutine of a bubble.
var bubble = regexp.MustCompile(`^goroutine \d+ \[.*(synctest bubble \d+)`)

// Goroutines counts the goroutines of the caller's bubble that have a function on their stack whose name contains a
// text. What other tests have left running does not count.
func Goroutines(in string) int {
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	stacks := strings.Split(string(buf[:n]), "\n\n")
	own := bubble.FindStringSubmatch(stacks[0]) // the caller's is the first
	if own == nil {
		panic("faketime: Goroutines outside of a bubble")
	}
	count := 0
	for _, stack := range stacks {
		if of := bubble.FindStringSubmatch(stack); of != nil && of[1] == own[1] && strings.Contains(stack, in) {
			count++
		}
	}
	return count
}
