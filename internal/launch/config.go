package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"thundercollective/internal/launch/environ"
	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/output"
	"thundercollective/internal/launch/remote"
)

// DefaultSilence is the time without a heartbeat after which agents on other machines
// assume that the launcher is gone.
const DefaultSilence = 3 * time.Second

// A Config describes what to run, and where.
type Config struct {
	Hosts []hosts.Host
	// Argv is the program and its arguments. A program whose name ends in .py is run by
	// Python.
	Argv []string
	// Python is the interpreter for such programs. "" selects the path of this machine's
	// python3 if it exists on the other machine, else the other machine's python3.
	Python string
	// Env has an entry "K=V" for each variable to set for every rank.
	Env []string
	// Dir is the working directory of the ranks. "" selects the launcher's own; on machines
	// where it does not exist, the home directory.
	Dir string
	// Copy lists files and directories to copy to a new directory on every machine, which
	// becomes the working directory.
	Copy []string
	// Edges are the cables between the ranks, in the form of THUNDER_EDGES (see
	// hosts.Edges); "" if every machine reaches every other.
	Edges string
	// Port is the first of the ports that a job uses on each machine; 0 selects any free
	// ports.
	Port int

	// Stdin is the input of rank 0 or, with StdinAll, of every rank; nil for none. Run does
	// not wait for a pending Read when it returns.
	Stdin    io.Reader
	StdinAll bool

	// Restarts is how often ranks are restarted after a failure: those that died, if the
	// others re-form the job (Comm.Reform), else all ranks. With RestartAll, always all
	// ranks.
	Restarts   int
	RestartAll bool
	// ReformWait is how long the others may take to start re-forming the job; 0 selects
	// DefaultReformWait.
	ReformWait time.Duration
	// Timeout ends the job after this time; 0 means never.
	Timeout time.Duration
	// Linger and Grace are those of local.Config, for all machines together.
	Linger, Grace time.Duration
	// Silence is how long other machines keep running without a heartbeat from the
	// launcher; 0 selects DefaultSilence.
	Silence time.Duration
	// Interrupts ends the job gracefully on the first signal, and immediately on the
	// second. It may be nil.
	Interrupts <-chan os.Signal

	// Agents configures how agents are started.
	Agents remote.Config
	// Version is the version of this binary; agents must have the same.
	Version string

	// Output configures where lines go. Run sets its Hosts.
	Output output.Config
	// Lines is the height of the terminal; 0 without one.
	Lines int
}

// Validate checks what can be checked without contacting any machine.
func (c *Config) Validate() error {
	switch {
	case len(c.Argv) == 0 || c.Argv[0] == "":
		return errors.New("no program to run")
	case len(c.Hosts) == 0:
		return errors.New("no hosts to run on")
	case c.Restarts < 0:
		return fmt.Errorf("%d restarts", c.Restarts)
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("port %d is not a port", c.Port)
	case len(c.Agents.Agent) == 0:
		return errors.New("no command line for an agent")
	case c.Timeout < 0 || c.Silence < 0 || c.ReformWait < 0:
		return errors.New("negative timeout")
	case c.Dir != "" && len(c.Copy) > 0:
		return errors.New("a working directory and files to copy are both given, but copies have a working directory of their own; use one or the other")
	}
	for _, kv := range c.Env {
		if k, _, ok := strings.Cut(kv, "="); !ok || k == "" || strings.ContainsRune(kv, 0) {
			return fmt.Errorf("environment %q is not of the form NAME=value", kv)
		}
	}
	place := hosts.Place(c.Hosts)
	for m := range place.Machines {
		if last := c.Port + environ.PortCount(c.Hosts, place, m) - 1; c.Port > 0 && last > 65535 {
			return fmt.Errorf("ports %d to %d do not exist", c.Port, last)
		}
	}
	return nil
}

// ports returns the ports that a machine is asked to reserve.
func (c *Config) ports(place hosts.Placement, machine int) []int {
	ports := make([]int, environ.PortCount(c.Hosts, place, machine))
	for i := range ports {
		if c.Port > 0 {
			ports[i] = c.Port + i
		}
	}
	return ports
}
