//go:build unix

package e2e

import (
	"maps"
	"os"
	"slices"
	"strings"
)

// stubbornServer is an MCP server that nothing ends but SIGKILL, and so are its processes: a child, and with the word
// "stray" also a grandchild in a session of its own. They ignore SIGTERM (an ignored signal is inherited) and outlive
// the end of the server's input. It is a script because the tests start it by the hundred. The words of its command
// line say what else it does; its tools, what they are called for.
const stubbornServer = `
trap '' TERM HUP INT
name=$1
echo "$name is up" >&2
case $* in
*stray*) /bin/sh -c 'setsid sleep 600 & exec sleep 600' & ;;
*alone*) ;;
*) sleep 600 & ;;
esac
case $* in
*loop*) if [ ! -e mended ]; then echo "cannot open the index" >&2; exit 7; fi ;;
esac
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
text() { say '"result":{"content":[{"type":"text","text":"'"$1"'"}]}'; }
tool() { printf '{"name":"%s","inputSchema":{"type":"object"}}' "$1"; }
while IFS= read -r line; do
	case $line in *'"id":'*) ;; *) continue ;; esac
	id=${line#*'"id":'}
	id=${id%%[,\}]*}
	case $line in
	*'"method":"initialize"'*)
		case $* in *mute*) echo "still loading the model" >&2; continue ;; esac
		say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"stubborn","version":"1"}}' ;;
	*'"method":"tools/list"'*)
		say '"result":{"tools":['"$(tool echo),$(tool hang),$(tool crash),$(tool deaf),$(tool "of-$name")"']}' ;;
	*'"method":"tools/call"'*)
		case $line in
		*'"name":"hang"'*) ;;
		*'"name":"crash"'*) echo "assertion failed" >&2; exit 9 ;;
		*'"name":"deaf"'*) text deaf; exec sleep 600 ;;
		*) text "$name" ;;
		esac ;;
	*'"method":"ping"'*) say '"result":{}' ;;
	*) say '"error":{"code":-32601,"message":"no such method"}' ;;
	esac
done
: >"ended-$name"
exec sleep 600
`

// stubborn is a stubborn server of this name. It has to be killed, and gets short graces before that.
func (p *place) stubborn(name string, words ...string) entry {
	p.t.Helper()
	script := p.file("stubborn.sh")
	if _, err := os.Stat(script); err != nil {
		if err := os.WriteFile(script, []byte(stubbornServer), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	return quick(entry{Command: "/bin/sh", Args: append([]string{script, name}, words...), Dir: p.dir,
		Approvals: allowAll})
}

// deserted waits until no process of the test is left. One look is not enough: it may miss a process in the middle of
// fork or exec.
func (p *place) deserted() {
	p.t.Helper()
	quiet := 0
	var left map[int]string
	untilOr(p.t, "no process is left", func() bool {
		if left = p.Processes(); len(left) > 0 {
			quiet = -1
		}
		quiet++
		return quiet == 3
	}, func() any { return left })
}

// guards returns the guards among processes.
func guards(processes map[int]string) []int {
	return slices.Sorted(maps.Keys(pick(processes, func(line string) bool {
		return strings.HasSuffix(strings.TrimSpace(line), "mcphub guard")
	})))
}

// pick returns the processes whose command line is as wanted.
func pick(processes map[int]string, wanted func(line string) bool) map[int]string {
	picked := maps.Clone(processes)
	maps.DeleteFunc(picked, func(_ int, line string) bool { return !wanted(line) })
	return picked
}

func isSleep(line string) bool { return strings.HasPrefix(line, "sleep ") }

// touch makes an empty file.
func touch(path string) error { return os.WriteFile(path, nil, 0o600) }
