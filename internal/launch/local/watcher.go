package local

import (
	"fmt"
	"io"
	"math"
	"os/exec"
	"syscall"
	"time"
)

// watcherScript reads "+ group" and "- group" lines until the pipe ends. Groups
// that are still listed then have lost their owner.
const watcherScript = `trap '' HUP INT QUIT TERM
gs=
while read -r op g; do
	case $op in
	+) gs="$gs $g" ;;
	-) n=; for x in $gs; do [ "$x" = "$g" ] || n="$n $x"; done; gs=$n ;;
	esac
done
n=
for g in $gs; do kill -s TERM -- "-$g" && n="$n $g"; done 2>/dev/null
[ -z "$n" ] || sleep "$1"
for g in $n; do kill -s KILL -- "-$g"; done 2>/dev/null
exit 0
`

// A watcher is the process that ends the job's groups when we are gone.
type watcher struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

func startWatcher(grace time.Duration) (*watcher, error) {
	secs := int(math.Ceil(grace.Seconds()))
	cmd := exec.Command("/bin/sh", "-c", watcherScript, "thunder-watcher", fmt.Sprint(secs))
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	// Its own session: neither the terminal's signals nor those meant for our
	// process group may reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("launch: watcher: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("launch: start the watcher: %w", err)
	}
	return &watcher{cmd: cmd, pipe: pipe}, nil
}

// watch and forget tell of a process group. A watcher that somebody killed makes
// the write fail; the job goes on without it.
func (w *watcher) watch(group int)  { fmt.Fprintf(w.pipe, "+ %d\n", group) }
func (w *watcher) forget(group int) { fmt.Fprintf(w.pipe, "- %d\n", group) }

// close lets the watcher end the groups it still knows, and waits for it.
func (w *watcher) close() {
	w.pipe.Close()
	w.cmd.Wait()
}
