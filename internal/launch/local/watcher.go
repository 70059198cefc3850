package local

import (
	"fmt"
	"io"
	"math"
	"os/exec"
	"syscall"
	"time"
)

// watcherScript reads lines "+ group" and "- group" until the pipe ends. The groups that
// are listed then have lost their owner.
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

// A watcher is the process that ends the job's groups if this process dies.
type watcher struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

func startWatcher(grace time.Duration) (*watcher, error) {
	secs := int(math.Ceil(grace.Seconds()))
	cmd := exec.Command("/bin/sh", "-c", watcherScript, "thunder-watcher", fmt.Sprint(secs))
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	// In a session of its own: signals from the terminal, or to our process group, must not
	// reach it.
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

// watch and forget announce a process group. If the watcher was killed, the write fails,
// and the job continues without it.
func (w *watcher) watch(group int)  { fmt.Fprintf(w.pipe, "+ %d\n", group) }
func (w *watcher) forget(group int) { fmt.Fprintf(w.pipe, "- %d\n", group) }

// close makes the watcher end the groups it still knows, and waits for it.
func (w *watcher) close() {
	w.pipe.Close()
	w.cmd.Wait()
}
